// PmDevice: one GPU whose hardware counters are sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/cuda/pm_functions.h"
#include "capture/cuda/pm_host.h"
#include "capture/cuda/pm_samples.h"

namespace fathom::cuda {

/// Where beginning failed: what CUPTI answered, to which question.
struct PmRefusal {
  CUptiResult result = CUPTI_SUCCESS;
  std::string question;  ///< "cuptiPmSamplingEnable".
};

/// From begin() to stop(). Its calls are of one thread at a time.
class PmDevice {
 public:
  /// `device` is CUDA's number. The functions outlive it.
  PmDevice(const PmFunctions& functions, int device) : cupti_(functions), device_(device) {}
  PmDevice(const PmDevice&) = delete;
  PmDevice& operator=(const PmDevice&) = delete;

  /// Plans by what the chip has, and begins. The plan says what is left out; without tracks nothing
  /// was begun, which is no refusal.
  PmRefusal begin(const PmRates& rates);
  /// Takes out what there is. Where the hardware buffer overflowed, sampling is begun anew.
  /// False when CUPTI gives no more samples: `refusal` has why.
  bool look(PmBatch& batch, PmRefusal& refusal);
  /// No sample comes any more; a last look() gets those that are there.
  PmRefusal stop();

  [[nodiscard]] const PmPlan& plan() const { return plan_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const std::string& chip() const { return chip_; }
  /// What CUPTI answered where it did not end one of its host objects, of which a plan takes many.
  [[nodiscard]] CUptiResult host_end() const {
    return host_ == nullptr ? CUPTI_SUCCESS : host_->end_result();
  }

 private:
  PmRefusal ask_chip();
  PmRefusal configure();
  PmRefusal make_room();
  PmRefusal start();
  CUptiResult decode(bool& more, bool& overflowed);
  CUptiResult read(PmBatch& batch);

  const PmFunctions& cupti_;
  int device_;
  std::string chip_;
  PmPlan plan_;
  std::unique_ptr<PmHost> host_;
  CUpti_PmSampling_Object* sampling_ = nullptr;
  bool running_ = false;
  bool first_ = false;  // no sample was read since the start
  std::vector<std::uint8_t> config_;
  std::int64_t started_ = 0;
  std::uint64_t ticks_started_ = 0;  // of the processor's counter, then
  std::vector<std::uint8_t> empty_;  // a counter data image without samples, to begin again with
  std::vector<std::uint8_t> data_;
};

}  // namespace fathom::cuda
