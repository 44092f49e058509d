// In the place of cuda/pm_sampler.cc where the headers of CUPTI are older than PM sampling (CUDA
// 12.6): says so.
#include "capture/cuda/pm_sampler.h"

namespace fathom::cuda {

class PmSampler::State {
 public:
  bool told = false;
};

PmSampler::PmSampler(const Cupti& /*cupti*/, const PmWish& /*wish*/)
    : state_(std::make_unique<State>()) {}
PmSampler::~PmSampler() = default;
void PmSampler::start() {}
void PmSampler::context_on(std::uint32_t /*device*/) noexcept {}
void PmSampler::look() {}
void PmSampler::stop() {}

PmNews PmSampler::take() {
  PmNews news;
  if (!state_->told)
    news.losses.push_back({pm_tracks() + " (hardware counters of GPUs)",
                           "this fathom was built with headers of CUPTI before CUDA 12.6",
                           "build it with newer ones (tools/setup cuda)"});
  state_->told = true;
  return news;
}

}  // namespace fathom::cuda
