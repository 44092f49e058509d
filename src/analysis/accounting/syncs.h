// Calls that make the host wait for the device, what asked for them, and the idle device time they
// left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// Why a call waits.
enum class SyncReason : std::uint8_t {
  synchronize,    ///< Device, stream or event synchronisation.
  blocking_copy,  ///< A copy that returns when it is done.
  blocking_fill,
  /// An asynchronous copy to pageable host memory, which is not asynchronous; or one from there
  /// that came behind other work of its stream, and whose call returned after it had started.
  pageable_copy,
};
std::string_view to_string(SyncReason reason);

struct SyncCall {
  SliceId call{};
  SyncReason reason = SyncReason::synchronize;
  SliceId op{};     ///< The innermost operator around it, or invalid.
  SliceId frame{};  ///< The innermost Python frame around it, or invalid.
  /// The device that it most likely waited for: its own copy's, else the one its thread last
  /// launched onto, else the only one there is. Unset when nothing shows.
  std::optional<std::int32_t> device{};
  /// Device idle from the return of this call to the next activity, or to the next synchronising
  /// call about that device if that comes first, so that no idle time is counted twice. Unset
  /// without a device, and when the device did nothing more.
  std::optional<Duration> idle_after{};
};

/// Finds the calls that make the host wait. The trace and its links must outlive it.
class SyncReasons {
 public:
  /// O(activities).
  SyncReasons(const Trace& trace, const Links& links);
  /// Unset when the call, a runtime or driver call, does not wait. O(1).
  [[nodiscard]] std::optional<SyncReason> of(SliceId call) const;

 private:
  const Trace& trace_;
  const Links& links_;
  std::vector<bool> pageable_;  // by slice: started a copy of pageable host memory that waits
};

/// All of them, by start time, whatever is selected. O(n log n).
std::vector<SyncCall> compute_syncs(const Context& context);

}  // namespace fathom
