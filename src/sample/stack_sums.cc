// Sums samples by stack.
#include "sample/stack_sums.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace fathom::sample {

void StackSums::take(const ThreadSample& sample) {
  if (sample.spent.on_cpu == 0) return;
  Key key{sample.state, sample.python, !sample.mixed.empty(), {}};
  auto& frames = std::get<3>(key);
  for (auto at = sample.mixed.rbegin(); at != sample.mixed.rend(); ++at)
    frames.push_back(names_.id(*at));
  if (sample.mixed.empty() && sample.layout != nullptr) {
    for (auto at = sample.frames.rbegin(); at != sample.frames.rend(); ++at)
      frames.push_back(names_.id(*at, *sample.layout));
  }
  Weight& weight = weights_[std::move(key)];
  weight.on_cpu += sample.spent.on_cpu;
  ++weight.samples;
  on_cpu_ += sample.spent.on_cpu;
}

std::vector<WeighedStack> StackSums::stacks() const {
  std::vector<WeighedStack> stacks;
  for (const auto& [key, weight] : weights_) {
    const auto& [state, python, native, frames] = key;
    WeighedStack stack{.frames = {},
                       .state = state,
                       .python = python,
                       .native = native,
                       .on_cpu = weight.on_cpu,
                       .samples = weight.samples};
    for (const std::uint32_t frame : frames) stack.frames.push_back(names_.look(frame));
    stacks.push_back(std::move(stack));
  }
  std::ranges::stable_sort(stacks, std::greater<>(), &WeighedStack::on_cpu);
  return stacks;
}

}  // namespace fathom::sample
