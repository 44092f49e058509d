// How much memory this process uses, and which limit keeps it from more.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

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

/// Those of the process alone, which are quick to ask for.
MemoryLimits resource_limits() noexcept;
/// All of them.
MemoryLimits memory_limits();

/// What a request met that failed when `use` was in use, for the user: in use, limit, remedy.
/// "41.2 MiB of address space were in use, of 58.59 MiB allowed (ulimit -v); raise …"
std::string limit_text(const MemoryUse& use, std::uint64_t requested, const MemoryLimits& limits);

}  // namespace fathom
