// Copies what the profiles hold, in nanoseconds.
#include "capture/python/taken.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

bool holds(const Edge& edge) {
  return edge.folded_calls > 0 || edge.folded_self != 0 || edge.folded_total != 0;
}
bool holds(const Function& function) {
  return function.folded_recursive > 0 || function.folded_total != 0;
}

}  // namespace

Taken::~Taken() { std::free(rows); }

bool Taken::copy(bool part_ends) {
  const std::uint64_t now = Ticks::now();
  const double ratio = Ticks::ns_per_tick();
  std::size_t all_edges = 0;
  std::size_t all_functions = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    if (part_ends) each->profile.fold(now, ratio, [](const FunctionPart& /*part*/) {});
    each->profile.visit(
        [&](const Edge& edge) { all_edges += static_cast<std::size_t>(holds(edge)); },
        [&](const Function& function) {
          all_functions += static_cast<std::size_t>(holds(function));
        });
  }
  rows = static_cast<TakenRow*>(std::calloc(all_edges + all_functions + 1, sizeof(TakenRow)));
  if (rows == nullptr) return false;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    Profile& profile = each->profile;
    profile.visit(
        [&](const Edge& edge) {
          if (!holds(edge)) return;
          new (&rows[edges++])
              TakenRow{edge.caller->label, edge.callee->label,    profile.is_root(*edge.caller),
                       edge.folded_calls,  edge.folded_recursive, edge.folded_self,
                       edge.folded_total};
        },
        [&](const Function& function) {
          if (!holds(function)) return;
          new (&rows[all_edges + functions++])
              TakenRow{nullptr, function.label,       false, 0, function.folded_recursive,
                       0,       function.folded_total};
        });
    profile.forget_folded();
  }
  return true;
}

}  // namespace fathom::python
