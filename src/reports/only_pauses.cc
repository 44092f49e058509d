// Looks at what kinds of slices there are.
#include "reports/only_pauses.h"

namespace fathom {

bool holds_only_pauses(const Context& context) {
  const Trace& trace = context.trace;
  bool pauses = false;
  for (const Category& category : trace.categories) {
    if (category.slices == 0 || category.kind == SliceKind::trace_span) continue;
    if (category.kind != SliceKind::other || trace.text(category.name) != "gc") return false;
    pauses = true;
  }
  return pauses;
}

}  // namespace fathom
