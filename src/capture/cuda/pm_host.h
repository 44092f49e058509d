// PmHost: CUPTI's profiler host interface for one chip, which needs no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/cuda/pm_functions.h"
#include "capture/cuda/pm_plan.h"

namespace fathom::cuda {

/// Borrows the functions, which outlive it. Not thread-safe.
class PmHost {
 public:
  /// A chip by CUPTI's name. `availability` is the image of the counters that its GPU lets one use;
  /// empty: all that the chip has.
  PmHost(const PmFunctions& functions, std::string chip, std::vector<std::uint8_t> availability);
  ~PmHost();
  PmHost(const PmHost&) = delete;
  PmHost& operator=(const PmHost&) = delete;

  /// What the host interface says of the chip at all: success, or why it knows nothing.
  [[nodiscard]] CUptiResult check();
  /// For plan_pm(). Valid as long as this lives.
  [[nodiscard]] PmChip chip();
  /// From now on these are what is counted and evaluated. The image is for the GPU.
  CUptiResult choose(const std::vector<std::string>& metrics, std::vector<std::uint8_t>& image);
  /// The chosen metrics of one sample of a counter data image, into `values`, as many as they are.
  CUptiResult evaluate(std::span<const std::uint8_t> data, std::size_t sample,
                       std::span<double> values) const;
  /// The first answer that an object of the interface could not be ended by; success: none so far.
  [[nodiscard]] CUptiResult end_result() const { return end_result_; }
  /// The chosen metrics, as CUPTI takes them.
  [[nodiscard]] std::span<const char*> names() { return names_; }

 private:
  CUptiResult begin();
  CUptiResult note(const char* question, CUptiResult result);
  void end();
  CUptiResult build(std::vector<std::uint8_t>& image);
  [[nodiscard]] std::size_t passes(const std::vector<std::string>& metrics);

  const PmFunctions& cupti_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUptiResult end_result_ = CUPTI_SUCCESS;
  std::string failed_;  // the first question since it was asked for
  std::vector<std::string> metrics_;
  mutable std::vector<const char*> names_;  // of metrics_; CUPTI takes no const array
};

}  // namespace fathom::cuda
