// Sums samples by the text of their stack.
#include "analysis/samples/sampled_stacks.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

#include "analysis/util/folded_stack.h"

namespace fathom {

SampledStacks sampled_stacks(const Trace& trace, SampledTime of) {
  SampledStacks sampled{.texts = StackTexts(trace, kDeepestStack), .stacks = {}};
  std::map<StackTexts::Node, std::size_t> rows;
  for (const StackSample& sample : trace.stack_samples) {
    each_part(sample, of, [&](Duration time, bool is_blocked) {
      const StackTexts::Node stack = sampled.texts.of(sample, is_blocked);
      const auto [at, fresh] = rows.try_emplace(stack, sampled.stacks.size());
      if (fresh) sampled.stacks.push_back({.stack = stack});
      sampled.stacks[at->second].time += time;
      ++sampled.stacks[at->second].count;
    });
  }
  std::ranges::stable_sort(sampled.stacks, std::ranges::greater(), &SampledStack::time);
  return sampled;
}

}  // namespace fathom
