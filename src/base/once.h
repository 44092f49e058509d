// Once: does something once, whoever asks first, and waits for it.
#pragma once

#include <atomic>
#include <mutex>

namespace fathom {

/// As std::once_flag and std::call_once. Their exceptions pass through the C library, which loads
/// libgcc_s.so.1 for that: it may not be installed, and without memory it cannot be loaded.
class Once {
 public:
  /// Calls `work` unless it was called; while another thread does, waits. What it throws leaves it
  /// uncalled.
  template <typename Work>
  void call(const Work& work) {
    if (called_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock(mutex_);
    if (called_.load(std::memory_order_relaxed)) return;
    work();
    called_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> called_ = false;
};

}  // namespace fathom
