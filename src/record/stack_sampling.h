// Where a running process tree spends its processor time, by looking at its stacks for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "sample/sampler.h"
#include "sample/stack_sums.h"

namespace fathom::record {

/// Stacks, the most processor time first; all weights sum to the processor time that was used.
struct SampledStacks {
  std::vector<sample::WeighedStack> stacks;
  std::int64_t on_cpu = 0;  ///< ns: the sum over all stacks.
  sample::SamplerState state;
};

struct StackSamplingOptions {
  int rate = 100;       ///< Looks a second, 1 to 10000.
  bool alone = false;   ///< Without the processes below.
  bool native = false;  ///< Native functions, too, with Python's where the interpreter runs them.
};

/// Looks from outside and without stopping the processes. One thread at a time.
class StackSampling {
 public:
  /// Errors: those of sample::Sampler::open(), before anything is looked at.
  static Result<std::unique_ptr<StackSampling>> open(pid_t root,
                                                     const StackSamplingOptions& options);

  /// Looks for so long, or until the process has ended or `stop` returns true. Once.
  SampledStacks run(Duration duration, const std::function<bool()>& stop);

 private:
  StackSampling() = default;

  sample::StackSums sums_;
  std::unique_ptr<sample::Sampler> sampler_;  // hands sums_ what it finds
};

}  // namespace fathom::record
