// Counts at each moment how many threads of a program with a pool compute.
#include "analysis/samples/pool_time.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// A worker that computes for less hardly takes part.
constexpr Duration kLeastWork = duration_ns(20'000'000);

struct Worker {
  bool of_pool = false;
  Duration ready{};
  Time first = Time::max();  ///< Its lifetime, as far as it was looked at.
  Time last = Time::min();
  Time before = Time::min();  ///< Until when it was looked at before the last time,
  Time begin = Time::min();   ///< and of what is known to be computed since,
  Time end = Time::min();     ///< which ends with that look.
};

/// A thread begins or stops to compute.
struct Edge {
  Time time;
  int workers = 0;
  int others = 0;
};

using Threads = std::map<std::pair<std::int64_t, std::int64_t>, Worker>;

Threads threads_of(const Trace& trace, const StackRoles& roles) {
  Threads threads;
  for (const StackSample& sample : trace.stack_samples) {
    Worker& worker = threads[{sample.pid, sample.tid}];
    worker.of_pool = worker.of_pool || roles.in_pool_worker(sample.frame);
    worker.ready += sample.on_cpu + sample.queued;
    const Duration spent = sample.on_cpu + sample.queued + sample.blocked;
    worker.first = std::min(worker.first, sample.time - spent);
    worker.last = std::max(worker.last, sample.time);
  }
  return threads;
}

std::vector<Edge> edges_of(const Trace& trace, Threads& threads) {
  std::vector<Edge> edges;
  for (const StackSample& sample : trace.stack_samples) {
    const Duration ready = sample.on_cpu + sample.queued;
    if (ready <= Duration{}) continue;
    Worker& worker = threads[{sample.pid, sample.tid}];
    if (sample.time < worker.end) continue;
    if (sample.time > worker.end) {
      worker.before = worker.end;
      worker.begin = worker.end = sample.time;
    }
    // One look may have several stacks: each has a part of what was computed until then.
    const Time until = worker.begin;
    worker.begin = std::max(worker.before, until - ready);
    if (worker.begin >= until) continue;
    const int of_pool = worker.of_pool ? 1 : 0;
    edges.push_back({.time = worker.begin, .workers = of_pool, .others = 1 - of_pool});
    edges.push_back({.time = until, .workers = -of_pool, .others = of_pool - 1});
  }
  std::ranges::sort(edges, {}, &Edge::time);
  return edges;
}

/// How many there were at most at one time: pools may follow one another.
std::size_t most_workers(const Threads& threads) {
  std::vector<std::pair<Time, int>> changes;
  for (const auto& [thread, worker] : threads) {
    if (!worker.of_pool || worker.ready < kLeastWork) continue;
    changes.emplace_back(worker.first, 1);
    changes.emplace_back(worker.last, -1);
  }
  // One that ends is counted no more when the next one begins.
  std::ranges::sort(changes);
  std::size_t most = 0;
  std::size_t now = 0;
  for (const auto& [time, change] : changes) {
    now = change > 0 ? now + 1 : now - 1;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

std::optional<PoolTime> pool_time(const Trace& trace, const StackRoles& roles) {
  Threads threads = threads_of(trace, roles);
  PoolTime pool;
  pool.workers = most_workers(threads);
  if (pool.workers < 2) return std::nullopt;
  Time begin = Time::max();
  Time end = Time::min();
  for (const StackSample& sample : trace.stack_samples) {
    begin = std::min(begin, sample.time - (sample.on_cpu + sample.queued + sample.blocked));
    end = std::max(end, sample.time);
  }
  pool.wall = end - begin;
  int workers = 0;
  int others = 0;
  Time last = begin;
  for (const Edge& edge : edges_of(trace, threads)) {
    const Duration length = edge.time - last;
    if (workers + others > 1)
      pool.together += length;
    else if (workers == 1)
      pool.one_worker += length;
    else if (others == 1)
      pool.one_other += length;
    last = edge.time;
    workers += edge.workers;
    others += edge.others;
  }
  return pool;
}

}  // namespace fathom
