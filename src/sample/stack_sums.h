// StackSums: samples summed up by stack.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sample/frame_names.h"
#include "sample/thread_sample.h"

namespace fathom::sample {

/// Threads that had this stack, and the processor time that they used with it.
struct WeighedStack {
  std::vector<FrameLook> frames;  ///< The outermost first. Empty: no Python function, or unread.
  StackState state = StackState::whole;
  bool python = true;       ///< False for threads without Python.
  bool native = false;      ///< Native functions are among the frames.
  std::int64_t on_cpu = 0;  ///< ns.
  std::int64_t samples = 0;
};

/// Sums the time on a processor.
class StackSums final : public SampleSink {
 public:
  void take(const ThreadSample& sample) override;
  [[nodiscard]] bool wants_waits() const override { return false; }
  void forget_code() override { names_.forget_code(); }
  /// The most processor time first.
  [[nodiscard]] std::vector<WeighedStack> stacks() const;
  [[nodiscard]] std::int64_t on_cpu() const { return on_cpu_; }

 private:
  /// State, Python, native, frames.
  using Key = std::tuple<StackState, bool, bool, std::vector<std::uint32_t>>;
  struct Weight {
    std::int64_t on_cpu = 0;
    std::int64_t samples = 0;
  };
  FrameNames names_;
  std::map<Key, Weight> weights_;
  std::int64_t on_cpu_ = 0;
};

}  // namespace fathom::sample
