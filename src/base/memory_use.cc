// Reads /proc/self/statm and the limits of the process, its control group and the machine.
#include "base/memory_use.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cgroup.h"

namespace fathom {
namespace {

/// The allocator asks the system for more than it was asked for: an arena is the most.
constexpr std::uint64_t kAllocatorTakes = std::uint64_t{128} << 20;

std::uint64_t resource_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return MemoryLimits::kNone;
  }
  return limit.rlim_cur;
}

/// Would the request, and what the allocator adds, have gone beyond the limit?
bool holds_back(std::uint64_t limit, std::uint64_t used, std::uint64_t requested) {
  if (limit == MemoryLimits::kNone) return false;
  const std::uint64_t left = limit - std::min(limit, used);
  return requested > left || left - requested < kAllocatorTakes;
}

}  // namespace

MemoryUse memory_use() noexcept {
  std::array<char, 128> text{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t size = read(descriptor, text.data(), text.size() - 1);
  close(descriptor);
  // size resident shared text lib data dirty, in pages
  std::array<std::uint64_t, 6> pages{};
  const char* at = text.data();
  const char* const end = at + std::max<ssize_t>(size, 0);
  for (std::uint64_t& number : pages) {
    at = std::from_chars(at, end, number).ptr;
    if (at < end) ++at;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {.address_space = pages[0] * page, .data = pages[5] * page, .resident = pages[1] * page};
}

MemoryLimits resource_limits() noexcept {
  MemoryLimits limits;
  limits.address_space = resource_limit(RLIMIT_AS);
  limits.data = resource_limit(RLIMIT_DATA);
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0) limits.machine = static_cast<std::uint64_t>(pages * sysconf(_SC_PAGESIZE));
  return limits;
}

MemoryLimits memory_limits() {
  MemoryLimits limits = resource_limits();
  const auto group = read_cgroup_limits(find_cgroup({}, "self", "memory"), {}).memory_bytes;
  if (group) limits.control_group = static_cast<std::uint64_t>(*group);
  return limits;
}

MetLimit met_limit(const MemoryUse& use, std::uint64_t requested, const MemoryLimits& limits,
                   unsigned threads) noexcept {
  const std::string_view raise =
      threads > 1 ? "raise it, or use fewer threads (--threads 1)" : "raise it";
  if (holds_back(limits.address_space, use.address_space, requested))
    return {use.address_space, "address space", limits.address_space, "ulimit -v", raise, true};
  if (holds_back(limits.data, use.data, requested))
    return {use.data, "data", limits.data, "ulimit -d", raise, true};
  if (limits.control_group < limits.machine) {
    return {use.resident, "memory", limits.control_group, "memory.max of the control group",
            "give the container more, or record fewer steps"};
  }
  return {use.resident, "memory", limits.machine, "the machine's memory",
          "use a machine with more, or record fewer steps"};
}

}  // namespace fathom
