// The accounting summed by what was at work: step, phase, module or kernel class.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/context.h"

namespace fathom {

enum class AccountBy : std::uint8_t { device, step, phase, module, kernel_class };

/// A stretch of time that is accounted for.
struct AccountWindow {
  Interval interval{};
  const Step* step = nullptr;  ///< nullptr where the stretch is no step.
};

/// One group of one device, or of the main thread.
struct AccountGroup {
  /// By step: index into the windows. By phase: Phase, or kPhases and the place of a range in
  /// Phases::ranges. By module: row of Modules::nodes. By kernel class: class_key() of the compute
  /// time, kNoClass of the rest. By device: 0.
  std::uint32_t key = 0;
  Account time;                               ///< Of a device.
  std::array<Duration, kHostBuckets> host{};  ///< Of the main thread, by HostBucket.
};

inline constexpr std::uint32_t kNoClass = UINT32_MAX;
constexpr std::uint32_t class_key(KernelTraits traits) {
  return static_cast<std::uint32_t>(traits.kernel_class) * 2 + (traits.tensor_cores ? 1 : 0);
}

/// The time of a device over `windows` (sorted, disjoint) by group; together it is their length.
/// Work belongs to the phase and module of the call that launched it, communication kernels to
/// communication; idle time to those of the call that ended it, and to data where data was fetched.
/// Groups by key. O(n log n).
std::vector<AccountGroup> group_device(const Context& context, std::int32_t device, AccountBy by,
                                       std::span<const AccountWindow> windows);

/// The same of the main thread, in a trace without device activity. Without kernels there are no
/// classes: by class is by device.
std::vector<AccountGroup> group_main_thread(const Context& context, AccountBy by,
                                            std::span<const AccountWindow> windows);

/// The phase that the device works for with an activity: of its launch, else of its operator.
Phase phase_of_activity(const Context& context, SliceId activity);

}  // namespace fathom
