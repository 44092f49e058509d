// Copies what the profiles hold of lines, in nanoseconds.
#include "capture/python/taken_lines.h"

#include <cstdlib>
#include <new>

#include "capture/python/threads.h"
#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

/// Visits each statement that ran, without what stands for no line.
template <typename Visit>
void each_statement(const LineProfile& profile, const Visit& visit) {
  profile.visit([&visit](const ThreadCode& code) {
    for (unsigned at = 1; at <= code.table->statements; ++at)
      if (!code.folded[at].empty()) visit(code, at);
  });
}

}  // namespace

TakenLines::~TakenLines() { std::free(lines); }

bool TakenLines::copy(bool part_ends) {
  const std::uint64_t now = Ticks::now();
  const double ratio = Ticks::ns_per_tick();
  std::size_t all = 0;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    if (!each->taken.load(std::memory_order_acquire)) each->abandon();
    if (part_ends)
      each->lines.fold(now, ratio, [](const ThreadCode&, unsigned, const FoldedSums&) {});
    each_statement(each->lines, [&all](const ThreadCode&, unsigned) { ++all; });
  }
  lines = static_cast<TakenLine*>(std::calloc(all + 1, sizeof(TakenLine)));
  if (lines == nullptr) return false;
  for (ThreadProfile* each = all_profiles(); each != nullptr; each = each->next) {
    each_statement(each->lines, [this](const ThreadCode& code, unsigned at) {
      const FoldedSums& sums = code.folded[at];
      new (&lines[count++]) TakenLine{code.table->code, at, sums.hits, sums.self, sums.total};
    });
    each->lines.forget_folded();
  }
  return true;
}

}  // namespace fathom::python
