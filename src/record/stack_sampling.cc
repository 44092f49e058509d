// Hands the sampler a sink that sums up by stack.
#include "record/stack_sampling.h"

#include <utility>

namespace fathom::record {

Result<std::unique_ptr<StackSampling>> StackSampling::open(pid_t root,
                                                           const StackSamplingOptions& options) {
  using Native = sample::Sampler::Options::Native;
  std::unique_ptr<StackSampling> sampling(new StackSampling);
  auto sampler = sample::Sampler::open(root,
                                       {.period = 1'000'000'000 / options.rate,
                                        .alone = options.alone,
                                        .native = options.native ? Native::all : Native::none},
                                       sampling->sums_);
  if (!sampler) return std::move(sampler).error();
  sampling->sampler_ = std::move(*sampler);
  return sampling;
}

SampledStacks StackSampling::run(Duration duration, const std::function<bool()>& stop) {
  sampler_->run(duration.count(), stop);
  sampler_->finish();
  return {.stacks = sums_.stacks(), .on_cpu = sums_.on_cpu(), .state = sampler_->state()};
}

}  // namespace fathom::record
