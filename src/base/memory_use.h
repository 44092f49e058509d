// How much memory this process uses, and which limit keeps it from more.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace fathom {

struct MemoryUse {
  std::uint64_t address_space = 0;  ///< Bytes, whether touched or not.
  std::uint64_t data = 0;           ///< Of it private and writable: what RLIMIT_DATA counts.
  std::uint64_t resident = 0;       ///< In physical memory.
};

/// From /proc/self/statm; all 0 where it cannot be read. Allocates nothing.
MemoryUse memory_use() noexcept;

/// Bytes; kNone: no such limit.
struct MemoryLimits {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t address_space = kNone;  ///< RLIMIT_AS.
  std::uint64_t data = kNone;           ///< RLIMIT_DATA.
  std::uint64_t control_group = kNone;  ///< The tightest memory.max of our groups.
  std::uint64_t machine = kNone;        ///< Physical memory.
};

/// All but the control group's; allocates nothing.
MemoryLimits resource_limits() noexcept;
/// All of them.
MemoryLimits memory_limits();

/// The limit that a request met, for the user.
struct MetLimit {
  std::uint64_t used = 0;  ///< Of what it limits.
  std::string_view of;     ///< That: "address space".
  std::uint64_t limit = 0;
  std::string_view which;   ///< "ulimit -v".
  std::string_view remedy;  ///< "raise it".
  bool own = false;         ///< The process's, as ulimit sets it.
};

/// What a request met that failed when `use` was in use and so many threads were at work.
MetLimit met_limit(const MemoryUse& use, std::uint64_t requested, const MemoryLimits& limits,
                   unsigned threads) noexcept;

}  // namespace fathom
