// Sums the samples of each thread.
#include "analysis/samples/thread_sums.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom {

std::vector<ThreadSum> thread_sums(const Trace& trace, const StackRoles& roles) {
  std::map<std::pair<std::int64_t, std::int64_t>, ThreadSum> sums;
  for (const StackSample& sample : trace.stack_samples) {
    const auto [at, fresh] = sums.try_emplace({sample.pid, sample.tid});
    ThreadSum& sum = at->second;
    const Time begin = sample.time - (sample.on_cpu + sample.queued + sample.blocked);
    if (fresh) {
      sum.pid = sample.pid;
      sum.tid = sample.tid;
      sum.begin = begin;
      sum.end = sample.time;
    }
    sum.name = sample.thread;
    sum.python = sum.python || roles.python(sample.frame);
    sum.end = std::max(sum.end, sample.time);
    sum.on_cpu += sample.on_cpu;
    sum.queued += sample.queued;
    sum.blocked += sample.blocked;
    if (sample.blocked > Duration{})
      sum.waits[static_cast<std::size_t>(roles.wait_of(sample))] += sample.blocked;
    ++sum.samples;
  }
  std::vector<ThreadSum> threads;
  threads.reserve(sums.size());
  for (auto& [thread, sum] : sums) {
    // What it spent sums to the time for which it was looked at.
    sum.begin = std::min(sum.begin, sum.end - sum.wall());
    threads.push_back(sum);
  }
  return threads;
}

}  // namespace fathom
