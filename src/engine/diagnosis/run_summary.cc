// Summarises the run of a session folder: processes, resources, energy, what is missing.
#include "engine/diagnosis/run_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

#include <simdjson.h>

#include "analysis/machine/energy.h"
#include "analysis/util/json_list.h"
#include "base/json_entries.h"
#include "base/json_result.h"
#include "base/quantity_text.h"
#include "engine/inputs/run_folder.h"

namespace fathom {
namespace {

constexpr std::size_t kMostNamed = 5;
/// A program that uses less of a processor waits for something else.
constexpr double kComputes = 0.2;

std::string text_of(const Trace& trace, std::string_view key) {
  const Fact* const fact = trace.fact(key);
  if (fact == nullptr) return {};
  simdjson::dom::parser parser;
  std::string_view text;
  if (get_json(parser.parse(fact->value), text)) return std::string(text);
  return {};
}

std::vector<HangLook> hangs(const Trace& trace) {
  std::vector<HangLook> found;
  const Fact* const fact = trace.fact("dumps");
  if (fact == nullptr) return found;
  for (const JsonEntry& entry : json_entries(fact->value)) {
    found.push_back({.file = member_of(entry, "file"),
                     .why = member_of(entry, "why"),
                     .where = member_of(entry, "where")});
  }
  return found;
}

/// Sums of slices by name, by category; in the order of their first start.
class Named {
 public:
  void add(std::string_view name, Duration time) {
    const auto [at, added] = rows_.try_emplace(std::string(name), times_.size());
    if (added) times_.push_back({.name = std::string(name)});
    times_[at->second].time += time;
    ++times_[at->second].count;
  }
  [[nodiscard]] std::vector<NamedTime> take() { return std::move(times_); }
  [[nodiscard]] std::vector<NamedTime> longest() {
    std::ranges::stable_sort(times_, std::ranges::greater(), &NamedTime::time);
    if (times_.size() > kMostNamed) times_.resize(kMostNamed);
    return std::move(times_);
  }

 private:
  std::map<std::string, std::size_t, std::less<>> rows_;
  std::vector<NamedTime> times_;
};

enum class Interest : std::uint8_t { none, phase, pause, range };

Interest interest_of(std::string_view category) {
  if (category == "phase") return Interest::phase;
  if (category == "gc") return Interest::pause;
  return category == "annotation" || category == "range" ? Interest::range : Interest::none;
}

void add_slices(const Trace& trace, RunSummary& run) {
  std::vector<Interest> interests;
  interests.reserve(trace.categories.size());
  for (const Category& category : trace.categories)
    interests.push_back(interest_of(trace.text(category.name)));
  Named phases;
  Named ranges;
  NamedTime pauses;
  const std::int64_t main = run.usage.main ? run.usage.main->pid : kAbsent;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const Duration time = trace.slices.duration[row];
    switch (interests[trace.slices.category[row]]) {
      case Interest::none:
        break;
      case Interest::phase:
        if (trace.name(id) == "thread") {
          ++run.threads;
        } else if (main == kAbsent || trace.track(id).pid == main) {
          phases.add(trace.name(id), time);
        }
        break;
      case Interest::pause:
        pauses.time += time;
        ++pauses.count;
        break;
      case Interest::range:
        ranges.add(trace.name(id), time);
        break;
    }
  }
  run.phases = phases.take();
  run.ranges = ranges.longest();
  // Short pauses are not slices of their own; the process counts them all.
  const Fact* const total = trace.fact("gc.total_ns");
  const Fact* const count = trace.fact("gc.pauses");
  if (total != nullptr && count != nullptr) {
    pauses.time = duration_ns(std::strtoll(total->value.c_str(), nullptr, 10));
    pauses.count = std::strtoull(count->value.c_str(), nullptr, 10);
    run.collector = pauses;
  }
}

void add_functions(const Trace& trace, RunSummary& run) {
  std::vector<const FunctionTime*> order;
  order.reserve(trace.functions.size());
  for (const FunctionTime& function : trace.functions) order.push_back(&function);
  const std::size_t shown = std::min(kMostNamed, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown),
                            std::ranges::greater(), &FunctionTime::self);
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionTime& function = *order[i];
    run.functions.push_back({.name = std::string(trace.text(function.name)),
                             .time = function.self,
                             .count = function.calls});
  }
}

std::vector<ProcessLine> in_order(const Trace& trace, const ProcessRun* main) {
  std::vector<ProcessLine> order;
  order.reserve(trace.process_runs.size());
  for (const ProcessRun& run : trace.process_runs) {
    order.push_back({.run = run,
                     .role = std::string(trace.text(run.role)),
                     .command = std::string(trace.text(run.name))});
  }
  std::ranges::stable_sort(order, {}, [main](const ProcessLine& line) {
    return std::tuple(main == nullptr || line.run.pid != main->pid, line.run.start_ns,
                      line.run.pid);
  });
  return order;
}

/// The process whose steps they are, else the main one.
const ProcessRun* who_stepped(const Trace& trace, const Steps& steps, const RunUsage& usage) {
  const std::int64_t pid = steps.steps.empty() ? kAbsent : steps.steps.front().pid;
  const auto at = std::ranges::find(trace.process_runs, pid, &ProcessRun::pid);
  if (at != trace.process_runs.end()) return &*at;
  return usage.main ? &*usage.main : nullptr;
}

/// True where neither operators nor a device were recorded: ranges and steps alone do not show what
/// time goes into.
bool is_plain(const Trace& trace) {
  return trace.format == "fathom-wire" &&
         std::ranges::none_of(trace.categories, [](const Category& category) {
           const bool recorded = category.kind == SliceKind::cpu_op ||
                                 is_runtime_call(category.kind) ||
                                 is_device_activity(category.kind);
           return recorded && category.slices > 0;
         });
}

}  // namespace

std::optional<RunSummary> summarize_run(const Context& context, double price, double carbon) {
  const Trace& trace = context.trace;
  if (trace.process_runs.empty() && context.telemetry().empty()) return {};
  RunSummary run;
  run.name = text_of(trace, "name");
  run.program = text_of(trace, kProgramFact);
  if (const Fact* const command = trace.fact("command")) {
    for (const std::string_view word : json_elements(command->value)) {
      run.command_words.emplace_back(json_unquoted(word));
      run.command += (run.command.empty() ? "" : " ") + run.command_words.back();
    }
  }
  run.usage = run_usage(trace, context.telemetry(), context.steps());
  if (run.usage.main) run.exit = exit_text(run.usage.main->status);
  const auto per_kwh = rate_per_kwh(trace, price, kPriceFact);
  const auto grams = rate_per_kwh(trace, carbon, kCarbonFact);
  if (run.usage.joules && per_kwh) run.price = price_of(*run.usage.joules, *per_kwh);
  if (run.usage.joules && grams) run.co2_g = price_of(*run.usage.joules, *grams);
  run.processes = in_order(trace, run.usage.main ? &*run.usage.main : nullptr);
  run.not_recorded = unrecorded(trace);
  run.hangs = hangs(trace);
  run.overhead = recording_overhead(trace);
  run.timed = context.timed_steps();
  if (const ProcessRun* const stepped = who_stepped(trace, context.steps(), run.usage))
    run.whole = whole_run(trace, *stepped, context.steps());
  add_slices(trace, run);
  add_functions(trace, run);
  run.plain = is_plain(trace);
  const bool requests = run.timed && run.timed->requests;
  if (requests) run.request_time = thread_time(trace);
  // Of a server its threads say nothing of the main one.
  if (run.plain && !requests) run.main_thread = thread_time(trace);
  return run;
}

std::string plain_verdict(const RunSummary& run) {
  std::string text = "Cannot tell: nothing inside the program was recorded that could be diagnosed";
  if (run.main_thread) {
    text += run.phases.empty() ? "; the thread that steps " : "; its main thread ";
    text += whole_split(*run.main_thread);
  }
  const std::optional<double> cores = run.usage.tree.cores();
  if (!cores) return text + ".";
  if (*cores < kComputes && !run.main_thread) {
    return text + "; it hardly computed: its processes used a processor for " +
           percent_text(100 * *cores) + " of the time.";
  }
  return text + "; its processes used " + processors_text(*cores) +
         (run.usage.cores ? " of " + processors_text(*run.usage.cores) : "") +
         " processors on the average.";
}

std::string processors_text(double processors) {
  std::array<char, 32> text{};
  const bool whole = processors == std::floor(processors);
  std::snprintf(text.data(), text.size(), "%.*f", whole ? 0 : 2, processors);
  return text.data();
}

}  // namespace fathom
