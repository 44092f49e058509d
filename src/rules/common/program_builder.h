// A program of operators that each launch one kernel, back to back on the device, for tests of
// rules.
#pragma once

#include <string_view>

#include "rules/rule.h"
#include "store/trace_builder.h"

namespace fathom {

/// One step. Operators take 10 ns on the host; their kernels follow one another without a gap.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::int64_t window) { trace_.step(1, 0, window); }

  /// An operator with one kernel of `duration` ns. Returns the operator, for its shapes and types.
  TraceBuilder::Event op(std::string_view name, std::string_view kernel, std::int64_t duration) {
    TraceBuilder::Event event = trace_.op(name, host_, 10);
    trace_.runtime("cudaLaunchKernel", host_ + 2, 4, ++correlation_);
    last_kernel_ = trace_.kernel(kernel, device_, duration, correlation_);
    host_ += 10;
    device_ += duration;
    return event;
  }
  /// The kernel of the last operator.
  TraceBuilder::Event kernel() { return {trace_, last_kernel_}; }
  /// An operator around the next `count` operators.
  TraceBuilder::Event around(std::string_view name, std::int64_t count) {
    return trace_.op(name, host_, 10 * count);
  }
  TraceBuilder& trace() { return trace_; }
  [[nodiscard]] std::int64_t now() const { return host_; }

 private:
  TraceBuilder trace_;
  std::int64_t host_ = 10;
  std::int64_t device_ = 1000;
  std::int64_t correlation_ = 0;
  SliceId last_kernel_;
};

/// An A100 with 40 GB, as deviceProperties describe it.
inline Device a100() {
  return {.id = 0,
          .name = "NVIDIA A100-SXM4-40GB",
          .memory_bytes = 42'000'000'000,
          .compute_major = 8,
          .compute_minor = 0,
          .sms = 108,
          .max_threads_per_sm = 2048,
          .max_threads_per_block = 1024,
          .registers_per_sm = 65536,
          .registers_per_block = 65536,
          .shared_memory_per_sm = 167'936,
          .shared_memory_per_block = 49'152,
          .shared_memory_per_block_optin = 166'912,
          .warp_size = 32};
}

}  // namespace fathom
