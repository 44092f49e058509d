// Sums samples by the text of their stack.
#include "analysis/samples/sampled_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "store/stack_text.h"

namespace fathom {
std::vector<FoldedStack> sampled_stacks(const Trace& trace, SampledTime of) {
  // Texts are long and stacks come again: each frame, or thread without one, is written once.
  std::map<std::tuple<std::uint32_t, StringId, bool>, std::size_t> rows;
  std::map<std::string, std::size_t> texts;
  std::vector<FoldedStack> stacks;
  std::vector<std::uint32_t> frames;
  for (const StackSample& sample : trace.stack_samples) {
    const StringId thread = sample.frame == kNoFrame ? sample.thread : StringId{};
    each_part(sample, of, [&](Duration time, bool is_blocked) {
      const auto [at, fresh] = rows.try_emplace({sample.frame, thread, is_blocked}, stacks.size());
      if (fresh) {
        frames_of(trace, sample.frame, frames);
        if (frames.size() > kDeepestStack) frames.resize(kDeepestStack);
        std::string text = stack_text(trace, sample, frames);
        if (is_blocked) text.append(";").append(kBlockedFrame);
        const auto [known, text_is_new] = texts.try_emplace(std::move(text), stacks.size());
        if (text_is_new) stacks.push_back({.text = known->first});
        at->second = known->second;
      }
      stacks[at->second].time += time;
      ++stacks[at->second].count;
    });
  }
  std::ranges::stable_sort(stacks, std::ranges::greater(), &FoldedStack::time);
  return stacks;
}

}  // namespace fathom
