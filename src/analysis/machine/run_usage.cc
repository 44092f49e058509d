// Sums what the processes of a run used, from their exits and from telemetry.
#include "analysis/machine/run_usage.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include <sys/wait.h>

#include "analysis/machine/energy.h"
#include "analysis/util/json_list.h"

namespace fathom {
namespace {

using Pids = std::set<std::int64_t>;

/// The processes of the run below `root`, itself included.
Pids tree_of(const Trace& trace, std::int64_t root) {
  std::map<std::int64_t, std::vector<std::int64_t>> children;
  for (const ProcessRun& run : trace.process_runs) children[run.parent].push_back(run.pid);
  Pids found;
  std::vector<std::int64_t> open = {root};
  while (!open.empty()) {
    const std::int64_t pid = open.back();
    open.pop_back();
    if (!found.insert(pid).second) continue;
    const auto at = children.find(pid);
    if (at != children.end()) open.insert(open.end(), at->second.begin(), at->second.end());
  }
  return found;
}

const ProcessRun* run_of(const Trace& trace, std::int64_t pid) {
  const auto at = std::ranges::lower_bound(trace.process_runs, pid, {}, &ProcessRun::pid);
  return at == trace.process_runs.end() || at->pid != pid ? nullptr : &*at;
}

/// A process whose parent is not of the tree: what it says of itself is in nobody else's numbers.
bool is_top(const ProcessRun& run, const Pids& pids) { return !pids.contains(run.parent); }

void add(std::optional<double>& sum, std::int64_t value) {
  if (value != kAbsent) sum = sum.value_or(0) + static_cast<double>(value);
}

/// Σ of what each process had used when it was last looked at, in seconds.
std::optional<double> sampled_cpu(const Telemetry& telemetry, const Pids& pids) {
  std::optional<double> seconds;
  for (const CounterLine& line : telemetry.lines()) {
    if (line.name != "process.cpu_user" && line.name != "process.cpu_system") continue;
    if (pids.contains(line.pid)) seconds = seconds.value_or(0) + line.values.back();
  }
  return seconds;
}

/// The highest sum of the processes' resident memory. Each holds its last sample until its next,
/// and gives it back at its end.
std::optional<double> sampled_memory(const Trace& trace, const Telemetry& telemetry,
                                     const Pids& pids) {
  std::vector<std::pair<Time, double>> changes;
  for (const CounterLine& line : telemetry.lines()) {
    if (line.name != "process.memory" || !pids.contains(line.pid)) continue;
    double held = 0;
    for (std::size_t row = 0; row < line.times.size(); ++row) {
      changes.emplace_back(line.times[row], line.values[row] - held);
      held = line.values[row];
    }
    const ProcessRun* const run = run_of(trace, line.pid);
    const bool ended = run != nullptr && run->end_ns != kAbsent;
    if (ended) changes.emplace_back(std::max(time_ns(run->end_ns), line.times.back()), -held);
  }
  if (changes.empty()) return {};
  // Of one moment, what is given back comes first.
  std::ranges::sort(changes);
  double sum = 0;
  double most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, sum += change);
  return most;
}

TreeUsage tree_usage(const Trace& trace, const Telemetry& telemetry, const Pids& pids,
                     const ProcessRun* top) {
  TreeUsage usage;
  std::optional<double> cpu_ns;
  std::int64_t largest = kAbsent;
  for (const ProcessRun& run : trace.process_runs) {
    if (!pids.contains(run.pid)) continue;
    ++usage.processes;
    if (run.peak_bytes != kAbsent) largest = std::max(largest, run.peak_bytes);
    if (!is_top(run, pids)) continue;
    add(cpu_ns, run.user_ns);
    add(cpu_ns, run.system_ns);
    add(usage.read_bytes, run.read_bytes);
    add(usage.written_bytes, run.written_bytes);
  }
  if (const auto seconds = sampled_cpu(telemetry, pids))
    cpu_ns = std::max(cpu_ns.value_or(0), 1e9 * *seconds);
  if (cpu_ns) usage.cpu = duration_ns(static_cast<std::int64_t>(*cpu_ns));
  usage.memory_peak = sampled_memory(trace, telemetry, pids);
  if (largest > 0)
    usage.memory_peak = std::max(usage.memory_peak.value_or(0), static_cast<double>(largest));
  if (top != nullptr && top->wall_ns != kAbsent) usage.wall = duration_ns(top->wall_ns);
  return usage;
}

/// The program: the launcher calls it main, or it is the first that nobody of the run started.
const ProcessRun* main_of(const Trace& trace) {
  Pids pids;
  for (const ProcessRun& run : trace.process_runs) pids.insert(run.pid);
  const ProcessRun* first = nullptr;
  for (const ProcessRun& run : trace.process_runs) {
    if (!is_top(run, pids)) continue;
    const bool main = trace.text(run.role) == "main";
    const bool earlier = first == nullptr || run.start_ns < first->start_ns;
    if (first == nullptr || (earlier && main == (trace.text(first->role) == "main")) ||
        (main && trace.text(first->role) != "main"))
      first = &run;
  }
  return first;
}

Interval time_of(const ProcessRun* main, const Telemetry& telemetry) {
  if (main != nullptr && main->start_ns != kAbsent && main->end_ns != kAbsent &&
      main->start_ns < main->end_ns)
    return {time_ns(main->start_ns), time_ns(main->end_ns)};
  Interval time{Time::max(), Time::min()};
  for (const CounterLine& line : telemetry.lines()) {
    time.begin = std::min(time.begin, line.times.front());
    time.end = std::max(time.end, line.times.back());
  }
  return time.begin <= time.end ? time : Interval{};
}

std::optional<double> most(const CounterLine* line) {
  if (line == nullptr || line->values.empty()) return {};
  return *std::ranges::max_element(line->values);
}

std::optional<double> mean(const CounterLine* line, const Interval& time) {
  if (line == nullptr) return {};
  const auto summary = level(*line, std::span(&time, 1));
  return summary ? std::optional(summary->mean) : std::nullopt;
}

std::vector<GpuUsage> gpus_of(const Telemetry& telemetry, const Interval& time) {
  std::set<std::int32_t> numbers;
  for (const CounterLine& line : telemetry.lines()) {
    if (line.name.starts_with("gpu.") && line.device >= 0) numbers.insert(line.device);
  }
  std::vector<GpuUsage> gpus;
  gpus.reserve(numbers.size());
  for (const std::int32_t gpu : numbers) {
    gpus.push_back({.gpu = gpu,
                    .utilization = mean(telemetry.find("gpu.utilization", gpu), time),
                    .watts = mean(telemetry.find("gpu.power", gpu), time),
                    .watts_limit = most(telemetry.find("gpu.power_limit", gpu)),
                    .memory_peak = most(telemetry.find("gpu.memory_used", gpu)),
                    .memory_total = most(telemetry.find("gpu.memory_total", gpu))});
  }
  return gpus;
}

void add_energy(const Trace& trace, const Telemetry& telemetry, const Steps& steps,
                RunUsage& usage) {
  const std::vector<EnergyConsumer> consumers = energy_consumers(telemetry);
  for (const EnergyConsumer& consumer : consumers) {
    const Interval whole = consumer.line->span();
    const auto energy = energy_of(consumer, std::span(&whole, 1));
    if (!energy) continue;
    usage.joules = usage.joules.value_or(0) + energy->joules;
    usage.consumers += (usage.consumers.empty() ? "" : ", ") + consumer.name;
  }
  double sum = 0;
  for (const RunStep& step : steps_of_run(trace, steps)) {
    if (consumers.empty() || !std::ranges::all_of(consumers, [&](const EnergyConsumer& consumer) {
          return consumer.covers(step.window);
        }))
      continue;
    for (const EnergyConsumer& consumer : consumers) {
      if (const auto energy = energy_of(consumer, std::span(&step.window, 1)))
        sum += energy->joules;
    }
    ++usage.steps;
  }
  if (usage.steps > 0) usage.joules_per_step = sum / static_cast<double>(usage.steps);
}

void add_ranks(const Trace& trace, const Telemetry& telemetry, RunUsage& usage) {
  for (const ProcessRun& run : trace.process_runs) {
    const ProcessRun* const parent = run_of(trace, run.parent);
    // Children inherit the variable that says it.
    if (run.rank < 0 || (parent != nullptr && parent->rank == run.rank)) continue;
    usage.ranks.push_back({.rank = run.rank,
                           .pid = run.pid,
                           .usage = tree_usage(trace, telemetry, tree_of(trace, run.pid), &run)});
  }
  if (usage.ranks.size() < 2) usage.ranks.clear();
  std::ranges::stable_sort(usage.ranks, {}, &RankUsage::rank);
}

struct Signal {
  int number;
  std::string_view name;
};
constexpr Signal kSignals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                               {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                               {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                               {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
                               {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"},
                               {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};

/// From the time zero that the steps of the run are counted from to the trace's; unset where it is
/// out of bounds.
std::optional<std::int64_t> shift_of_run_steps(const Trace& trace) {
  const Fact* const fact = trace.fact(kRunStepsOriginFact);
  if (fact == nullptr) return 0;
  std::int64_t shift = 0;
  const auto origin = json_integers("[" + fact->value + "]");
  if (!origin || origin->size() != 1) return {};
  if (__builtin_sub_overflow(origin->front(), trace.origin_ns, &shift)) return {};
  return shift;
}

}  // namespace

std::optional<double> TreeUsage::cores() const {
  if (!wall || !cpu || *wall <= Duration{}) return {};
  return static_cast<double>(to_ns(*cpu)) / static_cast<double>(to_ns(*wall));
}

std::vector<RunStep> recorded_run_steps(const Trace& trace) {
  std::vector<RunStep> steps;
  const Fact* const fact = trace.fact(kRunStepsFact);
  if (fact == nullptr) return steps;
  const std::optional<std::int64_t> shift = shift_of_run_steps(trace);
  if (!shift) return steps;
  for (const std::string_view element : json_elements(fact->value)) {
    const auto numbers = json_integers(element);
    if (!numbers || numbers->size() != 3 || (*numbers)[1] > (*numbers)[2]) continue;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (__builtin_add_overflow((*numbers)[1], *shift, &begin)) continue;
    if (__builtin_add_overflow((*numbers)[2], *shift, &end)) continue;
    steps.push_back({(*numbers)[0], {time_ns(begin), time_ns(end)}});
  }
  return steps;
}

std::vector<RunStep> steps_of_run(const Trace& trace, const Steps& steps) {
  std::vector<RunStep> counted = recorded_run_steps(trace);
  if (!counted.empty()) return counted;
  // A recording without steps is not one step.
  if (steps.source == StepSource::whole_trace) return counted;
  for (const Step* const step : steps.counted()) counted.push_back({step->number, step->window});
  return counted;
}

RunUsage run_usage(const Trace& trace, const Telemetry& telemetry, const Steps& steps) {
  RunUsage usage;
  const ProcessRun* const main = main_of(trace);
  if (main != nullptr) usage.main = *main;
  usage.time = time_of(main, telemetry);
  Pids all;
  for (const ProcessRun& run : trace.process_runs) all.insert(run.pid);
  usage.tree = tree_usage(trace, telemetry, all, main);
  usage.cores = most(telemetry.find("cgroup.cpu_limit"));
  if (!usage.cores) usage.cores = most(telemetry.find("cpu.count"));
  usage.memory_limit = most(telemetry.find("cgroup.memory_limit"));
  usage.limited_by_group = usage.memory_limit.has_value();
  if (!usage.memory_limit) usage.memory_limit = most(telemetry.find("memory.total"));
  usage.gpus = gpus_of(telemetry, usage.time);
  add_energy(trace, telemetry, steps, usage);
  add_ranks(trace, telemetry, usage);
  return usage;
}

std::string exit_text(std::int32_t status) {
  if (status < 0) return {};
  if (WIFEXITED(status)) return std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const auto* const at = std::ranges::find(kSignals, signal, &Signal::number);
  return at == std::end(kSignals) ? "signal " + std::to_string(signal) : std::string(at->name);
}

}  // namespace fathom
