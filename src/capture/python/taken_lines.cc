// Copies what the profiles hold of lines, from ticks into nanoseconds.
#include "capture/python/taken_lines.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

bool holds(const StatementSums& sums) { return sums.hits > 0 || sums.self != 0 || sums.total != 0; }

/// Visits each statement that ran, without what stands for no line.
template <typename Visit>
void each_statement(const LineProfile& profile, const Visit& visit) {
  profile.visit([&visit](const ThreadCode& code) {
    for (unsigned at = 1; at <= code.table->statements; ++at)
      if (holds(code.sums[at])) visit(code, at);
  });
}

}  // namespace

TakenLines::~TakenLines() { std::free(lines); }

bool TakenLines::copy() {
  const std::uint64_t now = Ticks::now();
  std::size_t all = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    each->lines.settle(now);
    each_statement(each->lines, [&all](const ThreadCode&, unsigned) { ++all; });
  }
  lines = static_cast<TakenLine*>(std::calloc(all + 1, sizeof(TakenLine)));
  if (lines == nullptr) return false;
  const double ratio = Ticks::ns_per_tick();
  const auto ns = [ratio](std::int64_t ticks) {
    return static_cast<long long>(static_cast<double>(ticks) * ratio);
  };
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    each_statement(each->lines, [this, &ns](const ThreadCode& code, unsigned at) {
      const StatementSums& sums = code.sums[at];
      new (&lines[count++])
          TakenLine{code.table->code, at, sums.hits, ns(sums.self), ns(sums.total)};
    });
    each->lines.clear(now);
  }
  return true;
}

}  // namespace fathom::python
