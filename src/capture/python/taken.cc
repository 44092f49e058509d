// Copies what the profiles hold, from ticks into nanoseconds.
#include "capture/python/taken.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

bool holds(const Edge& edge) { return edge.calls > 0 || edge.self != 0 || edge.total != 0; }
bool holds(const Function& function) { return function.recursive > 0 || function.total != 0; }

}  // namespace

Taken::~Taken() { std::free(rows); }

bool Taken::copy() {
  const std::uint64_t now = Ticks::now();
  std::size_t all_edges = 0;
  std::size_t all_functions = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    each->profile.settle(now);
    each->profile.visit(
        [&](const Edge& edge) { all_edges += static_cast<std::size_t>(holds(edge)); },
        [&](const Function& function) {
          all_functions += static_cast<std::size_t>(holds(function));
        });
  }
  rows = static_cast<TakenRow*>(std::calloc(all_edges + all_functions + 1, sizeof(TakenRow)));
  if (rows == nullptr) return false;
  const double ratio = Ticks::ns_per_tick();
  const auto ns = [ratio](std::int64_t ticks) {
    return static_cast<long long>(static_cast<double>(ticks) * ratio);
  };
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    Profile& profile = each->profile;
    profile.visit(
        [&](const Edge& edge) {
          if (!holds(edge)) return;
          new (&rows[edges++])
              TakenRow{edge.caller->label, edge.callee->label, profile.is_root(*edge.caller),
                       edge.calls,         edge.recursive,     ns(edge.self),
                       ns(edge.total)};
        },
        [&](const Function& function) {
          if (!holds(function)) return;
          new (&rows[all_edges + functions++]) TakenRow{
              nullptr, function.label, false, 0, function.recursive, 0, ns(function.total)};
        });
    profile.clear(now);
  }
  return true;
}

}  // namespace fathom::python
