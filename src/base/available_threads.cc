// Counts the threads that this process can keep busy, by affinity and control groups.
#include "base/available_threads.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

#include <sched.h>

#include "base/cgroup.h"

namespace fathom {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

unsigned threads_for(unsigned processors, std::optional<double> quota) {
  processors = std::max(processors, 1U);
  if (!quota || !(*quota < processors)) return processors;
  return std::max(1U, static_cast<unsigned>(std::ceil(*quota)));
}

unsigned allowed_processors() {
  constexpr int kMostProcessors = 1 << 20;
  // The kernel refuses a set that is smaller than its own.
  for (int size = 1024; size <= kMostProcessors; size *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(static_cast<std::size_t>(size)));
    if (set == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    if (sched_getaffinity(0, bytes, set.get()) == 0)
      return static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, set.get())));
    if (errno != EINVAL) return 1;
  }
  return 1;
}

std::optional<double> cpu_quota(const Roots& roots) {
  return read_cgroup_limits({}, find_cgroup(roots, "self", "cpu")).cores;
}

unsigned available_threads() {
  static const unsigned threads = threads_for(allowed_processors(), cpu_quota());
  return threads;
}

}  // namespace fathom
