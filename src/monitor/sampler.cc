// Samples telemetry on threads of its own.
#include "monitor/sampler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/json_writer.h"
#include "monitor/gpus.h"
#include "monitor/lane_run.h"
#include "monitor/pace.h"

namespace fathom::monitor {
namespace {

/// Of the observer.
constexpr CounterSpec kCounters[] = {
    {"monitor.cpu", "seconds", CounterKind::total, CounterOf::machine, "getrusage",
     "processor time that taking these samples took"},
    {"monitor.missed", "count", CounterKind::total, CounterOf::machine, "clock",
     "samples that could not be taken in time"},
};

constexpr std::int64_t kSecondNs = 1'000'000'000;
/// A lane that costs too much samples once a second at least.
constexpr auto kHangLimit = std::chrono::seconds(2);

std::int64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

/// Blocks all signals while it lives: threads made meanwhile inherit that.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

/// The capture file, until it is closed: a lane that hangs may come back later than that.
class WriterSink : public SampleSink {
 public:
  explicit WriterSink(wire::Writer& writer) : writer_(&writer) {}

  std::uint32_t counter(std::int32_t pid, std::int32_t device, std::string_view name,
                        std::string_view unit) override {
    const std::scoped_lock lock(mutex_);
    return writer_ == nullptr ? 0 : writer_->counter(pid, device, name, unit);
  }
  void sample(std::int64_t time, std::uint32_t id, double value) override {
    const std::scoped_lock lock(mutex_);
    if (writer_ != nullptr) writer_->sample(time, id, value);
  }
  void lose(std::int64_t time, std::string_view what) override {
    const std::scoped_lock lock(mutex_);
    if (writer_ == nullptr) return;
    writer_->fact(0, "telemetry.lost", what);
    writer_->instant(time, 0, 0, what, "telemetry");
  }
  void fact(std::string_view key, std::string_view value) {
    const std::scoped_lock lock(mutex_);
    if (writer_ != nullptr) writer_->fact(0, key, value);
  }
  void flush_if_old(std::int64_t now) {
    const std::scoped_lock lock(mutex_);
    if (writer_ != nullptr) writer_->flush_if_old(now);
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    writer_ = nullptr;
  }

 private:
  std::mutex mutex_;
  wire::Writer* writer_;
};

std::string missing_json(const std::vector<Missing>& missing) {
  std::string text;
  JsonWriter json(text);
  json.array();
  for (const Missing& line : missing) {
    json.object().member("what", line.what).member("why", line.why);
    json.member("remedy", line.remedy).end();
  }
  json.end();
  return text;
}

}  // namespace

/// What the threads share; kept alive by each of them.
struct Sampler::Shared {
  Shared(wire::Writer& writer, SamplerOptions chosen)
      : options(std::move(chosen)),
        sink(writer),
        tree(options.roots, options.tree),
        surroundings{.roots = options.roots, .tree = tree, .nvml_path = options.nvml_path} {}

  /// Starts the lane's thread. False: the system has none to give.
  static bool start(const std::shared_ptr<Shared>& shared, Lane lane);
  /// What that thread does; ends early where memory is short.
  void serve(Lane lane);
  void run(Lane lane, bool leads);
  /// False: it is time to stop.
  bool wait_until(std::int64_t time);

  const SamplerOptions options;
  WriterSink sink;
  ProcessTree tree;
  Surroundings surroundings;
  std::vector<Missing> missing;
  std::vector<std::unique_ptr<LaneRun>> lanes;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  int running = 0;
  std::vector<std::thread> threads;

  std::int64_t started = 0;
  std::atomic<std::int64_t> stopped = 0;
  std::atomic<std::int64_t> cpu_ns = 0;
  std::atomic<std::uint64_t> ticks = 0;
  std::atomic<std::uint64_t> missed = 0;
};

bool Sampler::Shared::wait_until(std::int64_t time) {
  std::unique_lock lock(mutex);
  // steady_clock is CLOCK_MONOTONIC, as the clock of the capture file is.
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(time)};
  return !changed.wait_until(lock, deadline, [this] { return stopping; });
}

void Sampler::Shared::run(Lane lane, bool leads) {
  const auto number = static_cast<std::size_t>(lane);
  LaneRun& sources = *lanes[number];
  const std::int64_t period = lane == Lane::gpu_slow ? kSecondNs : options.period_ns;
  const auto per_second = static_cast<std::uint64_t>(std::max<std::int64_t>(1, kSecondNs / period));
  Pace pace(started, period);
  CostLimit cost_limit(options.budget, per_second);
  std::optional<Series::Handle> cost_line;
  std::optional<Series::Handle> missed_line;
  if (leads) {
    cost_line = sources.series().add(counter_in(kCounters, "monitor.cpu"));
    missed_line = sources.series().add(counter_in(kCounters, "monitor.missed"));
  }
  std::int64_t cpu = 0;
  std::uint64_t known_missed = 0;
  std::uint64_t stride = 1;
  std::uint64_t last_slow = UINT64_MAX;
  std::uint64_t last_brisk = 0;
  unsigned looks_skipped = 0;
  for (bool go_on = true; go_on;) {
    go_on = wait_until(pace.deadline());
    const std::int64_t now = wire::monotonic_ns();
    // The last samples are taken when they are asked for, not when they would be due.
    const std::uint64_t tick = go_on ? pace.meet(now) : last_slow + per_second;
    const bool slow = lane == Lane::gpu_slow || !go_on || last_slow == UINT64_MAX ||
                      tick - last_slow >= per_second;
    const bool brisk = slow || tick - last_brisk >= std::max<std::uint64_t>(1, per_second / 5);
    if (slow) last_slow = tick;
    if (brisk) last_brisk = tick;
    // Early on, programs start most of their processes.
    const bool early = now - started < 2 * kSecondNs;
    if (leads && brisk && (early || looks_skipped++ % 3 == 0)) tree.update();
    sources.sample({.time = now, .number = tick, .brisk = brisk, .slow = slow});
    ++ticks;
    missed += pace.missed() - known_missed;
    known_missed = pace.missed();
    if (slow && leads) {
      sources.series().put(now, *cost_line, 1e-9 * static_cast<double>(cpu_ns.load()));
      sources.series().put(now, *missed_line, static_cast<double>(missed.load()));
    }
    sink.flush_if_old(now);
    const std::int64_t spent = thread_cpu_ns();
    cpu_ns += spent - cpu;
    cpu = spent;
    const std::uint64_t wanted = cost_limit.stride(spent, now - started);
    if (wanted != stride) {
      stride = wanted;
      sink.fact(lane == Lane::host ? "telemetry.stride.host" : "telemetry.stride.gpu",
                std::to_string(stride));
    }
    pace.skip(stride - 1);
  }
  sources.finish();
}

void Sampler::Shared::serve(Lane lane) {
  ::pthread_setname_np(::pthread_self(), "fathom-monitor");
  try {
    run(lane, lane == Lane::host);
  } catch (const std::bad_alloc&) {
    sink.lose(wire::monotonic_ns(), "telemetry ended early: out of memory");
  }
  const std::scoped_lock lock(mutex);
  --running;
  changed.notify_all();
}

bool Sampler::Shared::start(const std::shared_ptr<Shared>& shared, Lane lane) {
  const std::scoped_lock lock(shared->mutex);
  try {
    shared->threads.emplace_back([shared, lane] { shared->serve(lane); });
  } catch (const std::system_error&) {
    return false;
  }
  ++shared->running;
  return true;
}

std::span<const CounterSpec> sampler_counters() { return kCounters; }

Sampler::Sampler(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

std::unique_ptr<Sampler> Sampler::start(wire::Writer& writer, const SamplerOptions& options) {
  auto shared = std::make_shared<Shared>(writer, options);
  const NoSignals no_signals;
  std::string names;
  shared->tree.update();
  for (const Lane lane : {Lane::host, Lane::gpu, Lane::gpu_slow}) {
    shared->lanes.push_back(std::make_unique<LaneRun>(lane, shared->surroundings, shared->sink));
    const LaneRun& run = *shared->lanes.back();
    shared->missing.insert(shared->missing.end(), run.missing().begin(), run.missing().end());
    for (const std::string_view name : run.sources()) {
      names += (names.empty() ? "" : ",") + std::string(name);
    }
  }
  shared->sink.fact("telemetry.period_ns", std::to_string(options.period_ns));
  shared->sink.fact("telemetry.sources", names);
  shared->sink.fact("telemetry.missing", missing_json(shared->missing));
  for (const GpuDescription& gpu : describe_gpus(options.nvml_path).gpus) {
    shared->sink.fact("gpu." + std::to_string(gpu.index), to_json(gpu));
  }
  shared->started = wire::monotonic_ns();
  for (const Lane lane : {Lane::host, Lane::gpu, Lane::gpu_slow}) {
    const LaneRun& run = *shared->lanes[static_cast<std::size_t>(lane)];
    if (run.sources().empty() || Shared::start(shared, lane)) continue;
    for (const SourceSpec& spec : all_sources()) {
      if (std::ranges::find(run.sources(), spec.name) == run.sources().end()) continue;
      shared->missing.push_back({.what = std::string(spec.name),
                                 .why = "no thread could be started for it",
                                 .remedy = "allow more processes (ulimit -u, pids.max)",
                                 .lost = std::string(spec.lost)});
    }
    shared->sink.lose(shared->started, "telemetry without its thread: none could be started");
  }
  return std::unique_ptr<Sampler>(new Sampler(std::move(shared)));
}

void Sampler::stop() {
  Shared& shared = *shared_;
  {
    std::unique_lock lock(shared.mutex);
    if (shared.stopping) return;
    shared.stopping = true;
    shared.changed.notify_all();
    shared.changed.wait_for(lock, kHangLimit, [&] { return shared.running == 0; });
    shared.stopped = wire::monotonic_ns();
    if (shared.running == 0) {
      lock.unlock();
      for (std::thread& thread : shared.threads) thread.join();
    } else {
      // A call into the driver does not come back. It keeps what it uses; the file is not its own.
      for (std::thread& thread : shared.threads) thread.detach();
    }
  }
  const SamplerCost all = cost();
  shared.sink.fact("telemetry.cost_cpu_ns", std::to_string(shared.cpu_ns.load()));
  shared.sink.fact("telemetry.missed", std::to_string(all.missed));
  shared.sink.close();
}

Sampler::~Sampler() { stop(); }

const std::vector<Missing>& Sampler::missing() const { return shared_->missing; }

SamplerCost Sampler::cost() const {
  const std::int64_t end = shared_->stopped != 0 ? shared_->stopped.load() : wire::monotonic_ns();
  return {.cpu_seconds = 1e-9 * static_cast<double>(shared_->cpu_ns.load()),
          .wall_seconds = 1e-9 * static_cast<double>(end - shared_->started),
          .ticks = shared_->ticks,
          .missed = shared_->missed};
}

}  // namespace fathom::monitor
