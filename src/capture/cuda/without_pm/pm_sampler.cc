// In the place of cuda/pm_sampler.cc where the headers of CUPTI are older than PM sampling (CUDA
// 12.6): reports a loss.
#include "capture/cuda/pm_sampler.h"

namespace fathom::cuda {

class PmSampler::State {
 public:
  bool reported = false;
};

PmSampler::PmSampler(const Cupti& /*cupti*/, const PmRates& /*rates*/)
    : state_(std::make_unique<State>()) {}
PmSampler::~PmSampler() = default;
void PmSampler::start() {}
void PmSampler::context_on(std::uint32_t /*device*/) noexcept {}
void PmSampler::look() {}
void PmSampler::stop() {}

PmReport PmSampler::take() {
  PmReport news;
  if (!state_->reported)
    news.losses.push_back({pm_tracks() + " (hardware counters of GPUs)",
                           "this fathom was built with headers of CUPTI before CUDA 12.6",
                           "build it with newer ones (tools/setup cuda)"});
  state_->reported = true;
  return news;
}

}  // namespace fathom::cuda
