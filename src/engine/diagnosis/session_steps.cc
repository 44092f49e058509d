// Reads what a session folder has timed, and leaves out what is only recorded in depth.
#include "engine/diagnosis/session_steps.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analysis/context.h"
#include "analysis/machine/energy.h"
#include "analysis/machine/run_usage.h"
#include "analysis/machine/telemetry.h"
#include "analysis/machine/timed_steps.h"
#include "analysis/structure/stretches.h"
#include "engine/inputs/run_folder.h"

namespace fathom {
namespace {

constexpr std::string_view kSamples = "step.samples";
constexpr std::string_view kThrottle = "gpu.throttle.";
/// A GPU without work lacks no clock.
constexpr std::string_view kNoLack = "idle";

std::optional<double> number_of(const Trace& trace, std::string_view key) {
  const Fact* const fact = trace.fact(key);
  if (fact == nullptr) return std::nullopt;
  double value = 0;
  const char* const end = fact->value.data() + fact->value.size();
  const auto [at, error] = std::from_chars(fact->value.data(), end, value);
  return error == std::errc() && at == end && value > 0 ? std::optional(value) : std::nullopt;
}

/// What the program said last before each step's end; else the loader's batch, as often as a step
/// fetches one.
std::vector<double> samples_of(const Trace& trace, const Telemetry& telemetry,
                               const std::vector<RunStep>& steps) {
  for (const CounterLine& line : telemetry.lines()) {
    if (line.name != kSamples) continue;
    std::vector<double> samples;
    for (const RunStep& step : steps) {
      const auto after = std::ranges::upper_bound(line.times, step.window.end);
      if (after == line.times.begin()) return {};
      samples.push_back(line.values[static_cast<std::size_t>(after - line.times.begin()) - 1]);
    }
    return samples;
  }
  const std::optional<double> batch = number_of(trace, "loader.batch_size");
  const std::optional<double> batches = number_of(trace, "batches_per_step");
  if (!batch || !batches) return {};
  std::vector<double> samples(steps.size());
  std::ranges::fill(samples, *batch * *batches);
  return samples;
}

std::optional<SessionSteps> steps_of(const Trace& trace, const Analyses& analyses,
                                     const Telemetry& telemetry) {
  const Steps& steps = analyses.steps();
  const std::vector<RunStep> timed = steps_of_run(trace, steps);
  SessionSteps found;
  for (const RunStep& step : timed) found.ns.push_back(to_ns(step.window.length()));
  if (found.ns.empty()) return {};
  const std::int64_t pid = steps.steps.empty() ? kAbsent : steps.steps.front().pid;
  each_timed(trace, "loader.fetch", pid, [&found](std::string_view, Interval fetch) {
    found.waited_ns += to_ns(fetch.length());
  });
  found.samples = samples_of(trace, telemetry, timed);
  return found;
}

/// "epoch", "Epoch 3", "epoch_3", but not "epochs" or "epochal".
bool is_epoch(std::string_view name) {
  constexpr std::string_view kWord = "epoch";
  if (name.size() < kWord.size()) return false;
  for (std::size_t i = 0; i < kWord.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(name[i])) != kWord[i]) return false;
  }
  return name.size() == kWord.size() ||
         std::isalpha(static_cast<unsigned char>(name[kWord.size()])) == 0;
}

std::vector<Interval> epochs_of(const Trace& trace) {
  std::vector<Interval> epochs;
  each_timed(trace, "annotation", kAbsent, [&epochs](std::string_view name, Interval range) {
    if (is_epoch(name)) epochs.push_back(range);
  });
  return epochs;
}

std::vector<std::int64_t> lengths_of(const std::vector<Interval>& ranges) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(ranges.size());
  for (const Interval& range : ranges) lengths.push_back(to_ns(range.length()));
  return lengths;
}

/// Of all consumers together; unset where one was not sampled all the time.
std::optional<double> joules_in(const std::vector<EnergyConsumer>& consumers,
                                const Interval& window) {
  std::optional<double> sum;
  for (const EnergyConsumer& consumer : consumers) {
    if (!consumer.covers(window)) return std::nullopt;
    const std::optional<Energy> energy = energy_of(consumer, std::span(&window, 1));
    if (!energy) return std::nullopt;
    sum = sum.value_or(0) + energy->joules;
  }
  return sum;
}

std::optional<double> joules_per_epoch(const Telemetry& telemetry,
                                       const std::vector<Interval>& epochs) {
  const std::vector<EnergyConsumer> consumers = energy_consumers(telemetry);
  double sum = 0;
  std::size_t known = 0;
  for (std::size_t i = epochs.size() > 1 ? 1 : 0; i < epochs.size(); ++i) {
    const std::optional<double> joules = joules_in(consumers, epochs[i]);
    if (!joules) continue;
    sum += *joules;
    ++known;
  }
  return known == 0 ? std::nullopt : std::optional(sum / static_cast<double>(known));
}

Duration sum_of(std::vector<Interval> stretches) {
  Duration sum{};
  for (const Interval& stretch : merged(std::move(stretches))) sum += stretch.length();
  return sum;
}

/// What is done beside the steps, as the recorder times it.
constexpr std::string_view kRecordersPhases[] = {"compilation", "checkpoint", "load", "evaluation"};

void add_recorders(const Trace& trace, std::int64_t pid, std::vector<SessionPhase>& phases) {
  for (const std::string_view wanted : kRecordersPhases) {
    std::vector<Interval> stretches;
    each_timed(trace, "phase", pid, [&](std::string_view name, Interval own) {
      if (name == wanted) stretches.push_back(own);
    });
    if (stretches.empty()) continue;
    phases.push_back({.name = std::string(wanted),
                      .ns = static_cast<double>(to_ns(sum_of(std::move(stretches)))),
                      .of_step = false});
  }
}

/// Ranges of the program inside of the steps after the first (of a single step, that one).
void add_programs(const Trace& trace, std::int64_t pid, const std::vector<RunStep>& steps,
                  std::vector<SessionPhase>& phases) {
  std::vector<Interval> windows;
  for (std::size_t i = steps.size() > 1 ? 1 : 0; i < steps.size(); ++i)
    windows.push_back(steps[i].window);
  std::ranges::sort(windows, {}, &Interval::begin);
  std::map<std::string, std::vector<Interval>, std::less<>> by_name;
  each_timed(trace, "annotation", pid, [&](std::string_view name, Interval range) {
    const auto after = std::ranges::upper_bound(windows, range.begin, {}, &Interval::begin);
    if (after == windows.begin() || range.end > std::prev(after)->end || is_epoch(name)) return;
    by_name[std::string(name)].push_back(range);
  });
  for (auto& [name, stretches] : by_name) {
    phases.push_back({.name = name,
                      .ns = static_cast<double>(to_ns(sum_of(std::move(stretches)))) /
                            static_cast<double>(windows.size()),
                      .of_step = true});
  }
}

std::vector<SessionPhase> phases_of(const Trace& trace, const Steps& steps) {
  std::vector<SessionPhase> phases;
  const std::int64_t pid = steps.steps.empty() ? kAbsent : steps.steps.front().pid;
  add_recorders(trace, pid, phases);
  add_programs(trace, pid, steps_of_run(trace, steps), phases);
  return phases;
}

/// Where the program works as it is measured: its steps after the first, which makes ready.
std::vector<Interval> worked(const Trace& trace, const Steps& steps, const RunUsage& usage) {
  std::vector<Interval> windows;
  const std::vector<RunStep> timed = steps_of_run(trace, steps);
  for (std::size_t i = timed.size() > 1 ? 1 : 0; i < timed.size(); ++i)
    windows.push_back(timed[i].window);
  if (windows.empty()) windows.push_back(usage.time);
  return merged(std::move(windows));
}

std::optional<GpuPace> pace_of(const Telemetry& telemetry, std::int32_t gpu,
                               const std::vector<Interval>& windows) {
  const CounterLine* const use = telemetry.find("gpu.utilization", gpu);
  const CounterLine* const clock = telemetry.find("gpu.sm_clock", gpu);
  if (clock == nullptr) return {};
  const auto used = use == nullptr ? std::nullopt : level(*use, windows);
  const auto mhz = level(*clock, windows);
  if (!mhz || (used && used->most <= 0)) return {};
  GpuPace pace{.gpu = gpu, .sm_mhz = mhz->mean, .throttled = {}};
  for (const CounterLine& line : telemetry.lines()) {
    if (line.device != gpu || !line.name.starts_with(kThrottle)) continue;
    const std::string_view reason = line.name.substr(kThrottle.size());
    if (reason == kNoLack) continue;
    if (const auto share = level(line, windows))
      pace.throttled.emplace_back(std::string(reason), share->mean);
  }
  return pace;
}

std::optional<SessionDevices> devices_of(const Trace& trace, const Analyses& analyses,
                                         const Telemetry& telemetry) {
  if (trace.fact("telemetry.period_ns") == nullptr) return {};
  const RunUsage usage = run_usage(trace, telemetry, analyses.steps());
  SessionDevices devices{.joules = usage.joules,
                         .joules_per_step = usage.joules_per_step,
                         .joules_per_epoch = joules_per_epoch(telemetry, epochs_of(trace)),
                         .consumers = usage.consumers,
                         .gpu_memory = {},
                         .paces = {}};
  const std::vector<Interval> windows = worked(trace, analyses.steps(), usage);
  for (const GpuUsage& gpu : usage.gpus) {
    if (gpu.memory_peak)
      devices.gpu_memory = std::max(devices.gpu_memory.value_or(0), *gpu.memory_peak);
    if (std::optional<GpuPace> pace = pace_of(telemetry, gpu.gpu, windows))
      devices.paces.push_back(std::move(*pace));
  }
  return devices;
}

/// What a program's own facts are called.
struct KnownFact {
  std::string_view key;
  std::string_view title;
};
constexpr KnownFact kKnownFacts[] = {
    {"python", "Python"},
    {"torch", "PyTorch"},
    {"cuda", "CUDA"},
    {"cudnn", "cuDNN"},
    {"model.class", "model"},
    {"model.parameters", "parameters"},
    {"model.dtypes", "types"},
    {"batch_size", "batch size"},
    {"loader.num_workers", "workers"},
    {"mode", "mode"},
    {"amp.autocast", "autocast"},
    {"compile.backend", "compiled by"},
    {"threads", "threads"},
    {"interop_threads", "threads between operators"},
    {"world_size", "processes"},
    {"tf32_matmul", "TF32 of matmul"},
    {"tf32_cudnn", "TF32 of cuDNN"},
    {"matmul_precision", "precision of matmul"},
    {"cudnn_benchmark", "cudnn.benchmark"},
    {"cudnn_deterministic", "cudnn.deterministic"},
    {"deterministic", "deterministic"},
    {"seed", "seed of torch"},
};

std::vector<std::pair<std::string, std::string>> facts_of(const Trace& trace) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const KnownFact& known : kKnownFacts) {
    const Fact* const fact = trace.fact(known.key);
    if (fact == nullptr) continue;
    std::string_view value = fact->value;
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"'))
      value = value.substr(1, value.size() - 2);
    facts.emplace_back(known.title, value);
  }
  return facts;
}

SessionMeasured measured(const Trace& trace) {
  const Analyses analyses(trace);
  const Telemetry telemetry(trace);
  return {.steps = steps_of(trace, analyses, telemetry),
          .epochs_ns = lengths_of(epochs_of(trace)),
          .phases = phases_of(trace, analyses.steps()),
          .devices = devices_of(trace, analyses, telemetry),
          .facts = facts_of(trace)};
}

}  // namespace

SessionMeasured session_measured(const std::string& folder) {
  const auto recordings = find_recordings(folder);
  std::optional<SessionMeasured> first;
  if (!recordings) return {};
  for (const RunRecording& recording : *recordings) {
    const Result<Trace> trace = read_run(recording, {.threads = 1});
    if (!trace) continue;
    SessionMeasured found = measured(*trace);
    if (found.steps) return found;
    if (!first) first = std::move(found);
  }
  return first ? std::move(*first) : SessionMeasured{};
}

std::optional<SessionSteps> session_steps(const std::string& folder) {
  return session_measured(folder).steps;
}

}  // namespace fathom
