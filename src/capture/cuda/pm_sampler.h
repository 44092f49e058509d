// PmSampler: a thread of its own that takes samples of hardware counters out of the GPUs that the
// program uses.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/cuda/cupti.h"
#include "capture/cuda/fallback.h"
#include "capture/cuda/pm_samples.h"

namespace fathom::cuda {

/// What there is to write.
struct PmReport {
  struct Begun {
    int gpu = 0;  ///< By PCI bus.
    std::string chip;
    PmPlan plan;
    std::string
        host_end;  ///< What CUPTI answered where it did not end a host object; empty: nothing.
  };
  struct Looked {
    int gpu = 0;
    PmBatch batch;
  };
  std::vector<Begun> begun;
  std::vector<Looked> looked;  ///< In the order of time.
  std::vector<Loss> losses;
};

/// A GPU is sampled from the moment on that the program has a context on it. What is refused is a
/// loss, once. Never destroyed before stop(); in a child of fork() it is left alone.
class PmSampler {
 public:
  /// `cupti` is open, and outlives it.
  PmSampler(const Cupti& cupti, const PmRates& rates);
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  void start();
  /// The program has made a context there. Takes no lock; of any thread.
  void context_on(std::uint32_t device) noexcept;
  /// What came since the last call.
  PmReport take();
  /// Looks at once, without waiting for our thread: the program is about to end by a signal.
  void look();
  /// Ends sampling and the thread; what was sampled until then can be taken.
  void stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::cuda
