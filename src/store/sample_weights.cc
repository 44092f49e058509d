// Reads what the importer of another profiler's stacks wrote into the trace.
#include "store/sample_weights.h"

namespace fathom {

std::string_view weight_unit(const Trace& trace) {
  const Fact* const unit = trace.fact("samples.unit");
  if (unit == nullptr || unit->value.size() < 2) return {};
  return std::string_view(unit->value).substr(1, unit->value.size() - 2);  // JSON of plain words
}

bool waits_are_known(const Trace& trace) { return trace.fact("samples.waits") == nullptr; }

}  // namespace fathom
