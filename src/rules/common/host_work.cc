// Finds host slices and the idle device time within a stretch.
#include "rules/common/host_work.h"

namespace fathom {

std::vector<SliceId> host_slices(const RuleContext& rules, const NameSet& names) {
  const Trace& trace = rules.trace();
  std::vector<SliceId> found;
  if (!names.any()) return found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    if (names.contains(trace.slices.name[row]) && is_host_work(trace.kind(slice)) &&
        rules.counts(trace.slices.start[row])) {
      found.push_back(slice);
    }
  }
  return found;
}

std::vector<SliceId> top_operators(const RuleContext& rules, const Nesting::Thread& thread) {
  const Trace& trace = rules.trace();
  std::vector<SliceId> found;
  Time covered = Time::min();
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    if (trace.kind(slice) != SliceKind::cpu_op || start < covered) continue;
    covered = trace.slices.end(slice);
    if (rules.counts(start)) found.push_back(slice);
  }
  return found;
}

void add_outermost(const RuleContext& rules, const std::vector<Nesting::Thread>& threads,
                   const NameSet& names, std::vector<SliceId>& found) {
  const Trace& trace = rules.trace();
  if (!names.any()) return;
  for (const Nesting::Thread& thread : threads) {
    Time covered = Time::min();
    for (const SliceId slice : thread.slices) {
      const Time start = trace.slices.start[slice.row()];
      if (start < covered || !names.contains(trace.slices.name[slice.row()])) continue;
      covered = trace.slices.end(slice);
      if (rules.counts(start)) found.push_back(slice);
    }
  }
}

}  // namespace fathom
