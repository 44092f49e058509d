// Holds the flag of each thread.
#include "base/stop.h"

namespace fathom {
namespace {

/// Of what this thread computes.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local const std::atomic<bool>* current_flag = nullptr;

}  // namespace

StopScope::StopScope(const std::atomic<bool>* flag) noexcept : outer_(current_flag) {
  current_flag = flag;
}
StopScope::~StopScope() { current_flag = outer_; }

const std::atomic<bool>* stop_flag() noexcept { return current_flag; }

void stop_point() {
  if (current_flag != nullptr && current_flag->load(std::memory_order_relaxed)) throw Stopped();
}

}  // namespace fathom
