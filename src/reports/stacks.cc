// stacks: folded call stacks for flame graphs.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/operators/folded_stacks.h"
#include "analysis/samples/sampled_stacks.h"
#include "base/digit_groups.h"
#include "reports/profile_parts.h"
#include "reports/report.h"
#include "reports/sample_notes.h"
#include "store/sample_weights.h"
#include "store/sampled_time.h"
#include "store/stack_texts.h"

namespace fathom {
namespace stacks_report {
namespace {

struct Sum {
  Duration time{};    ///< Of all rows.
  bool times = true;  ///< Else weights are what another profiler counts.
  /// Of sampled stacks, whose texts are made for the cells that are shown.
  std::optional<StackTexts> texts;
};
struct Stack {
  std::string text;
  StackTexts::Node node = 0;  ///< In place of a text.
  Duration time{};
  std::int64_t count = 0;
};
using Stacks = ReportRows<Stack, Sum>;

std::string text_of(const Stack& stack, const Sum& sum) {
  return sum.texts ? sum.texts->text(stack.node) : stack.text;
}

constexpr Stacks::Column kColumns[] = {
    {"stack", ColumnKind::name, "",
     "Python frames, annotations, operators and calls, outermost first, joined by ';'; with "
     "--metric device the kernel is the leaf. Of sampled threads Python functions with their line.",
     by<text_of>},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time in exactly this stack, deeper stacks excluded.",
     [](const Stack& stack, const Sum& sum) {
       return sum.times ? std::optional(stack.time) : std::nullopt;
     }},
    {"percent", ColumnKind::percent, "percent", "Its share of the sum of all rows.",
     [](const Stack& stack, const Sum& sum) { return percent_of(stack.time, sum.time); }},
    {"calls", ColumnKind::count, "",
     "How often the stack was reached; of sampled threads, samples; of a file without times, its "
     "weights.",
     [](const Stack& stack, const Sum& sum) {
       return sum.times ? stack.count : to_ns(stack.time);
     }},
};

constexpr std::string_view kMetrics[] = {"host", "device", "on-cpu", "blocked", "both"};
constexpr ReportOption kMetric = {.name = "metric",
                                  .type = OptionType::choice,
                                  .doc =
                                      "Which time to count: host or device; of threads that fathom "
                                      "run sampled, on-cpu, blocked or both",
                                  .value = "WHAT",
                                  .choices = kMetrics};
constexpr ReportOption kOptions[] = {kMetric};

/// Is nothing recorded inside the program, pauses of Python's garbage collector aside?
bool is_sampled_only(const Context& context) {
  if (!context.nesting().frames.empty() || context.trace.stack_samples.empty()) return false;
  return std::ranges::all_of(context.trace.categories, [](const Category& category) {
    return category.slices == 0 || category.kind == SliceKind::other;
  });
}

/// Of sampled threads; empty where operators are asked for.
std::optional<SampledTime> sampled_time(const Context& context, std::string_view metric) {
  if (metric.empty() && is_sampled_only(context)) return SampledTime::on_cpu;
  return sampled_time_named(metric);
}

std::vector<FoldedStack> rows_of_operators(const Context& context, bool device,
                                           std::vector<std::string>& notes) {
  if (context.nesting().frames.empty())
    notes.emplace_back("No Python frames were recorded (with_stack): stacks begin at operators.");
  if (device && context.links().without_launch > 0) {
    notes.push_back(grouped(context.links().without_launch) +
                    " device activities have no launch in the trace: their stack is their name.");
  }
  return compute_folded_stacks(context, device ? StackMetric::device : StackMetric::host);
}

/// Is a profile of functions all that could be shown?
bool is_of_functions(const Context& context, std::string_view metric) {
  const Trace& trace = context.trace;
  return (metric.empty() || metric == "host") && trace.slices.size() == 0 &&
         trace.stack_samples.empty() && !trace.functions.empty();
}

/// Each by its own time.
std::vector<FoldedStack> rows_of_functions(const Context& context,
                                           std::vector<std::string>& notes) {
  const Trace& trace = context.trace;
  std::map<std::string, FoldedStack> sums;
  ProfileParts parts(context);
  parts.each(trace.functions, trace.function_parts, [&](const FunctionTime& function) {
    if (function.self <= Duration{}) return;
    std::string name(trace.text(function.name));
    const std::string_view file = trace.text(function.file);
    if (!file.empty() && file != "~")
      name += " (" + std::string(file) + ":" + std::to_string(function.line) + ")";
    std::ranges::replace_if(
        name, [](char c) { return c == ';' || c == '\n' || c == '\r'; }, ',');
    FoldedStack& sum = sums[name];
    sum.text = std::move(name);
    sum.time += function.self;
    sum.count = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum.count) + function.calls);
  });
  parts.note("Calls and times", notes);
  notes.emplace_back(
      "Functions of a profile, each by its own time; fathom functions --group-by caller shows who "
      "called them.");
  std::vector<FoldedStack> rows;
  rows.reserve(sums.size());
  for (auto& [name, sum] : sums) rows.push_back(std::move(sum));
  std::ranges::stable_sort(rows, std::ranges::greater(), &FoldedStack::time);
  return rows;
}

/// What the metric lacks in a recording that has stacks of others.
std::optional<std::string> missing_of(const Context& context, bool sampled,
                                      std::string_view metric) {
  if (sampled) {
    return missing(context,
                   {StoreTable::stack_samples,
                    "The recording holds no samples of threads; fathom run --with samples records "
                    "them."});
  }
  if (metric == "device") return missing(context, {.table = StoreTable::activities});
  return {};
}

void add_rows(std::vector<FoldedStack> stacks, std::vector<Stack>& rows) {
  rows.reserve(stacks.size());
  for (FoldedStack& stack : stacks)
    rows.push_back({.text = std::move(stack.text), .time = stack.time, .count = stack.count});
}

constexpr Need kNeeds[] = {{StoreTable::stacks}};

Result<Stacks> compute(const Context& context, const OptionValues& own) {
  const std::string_view metric = own.text(kMetric);
  Stacks stacks;
  const auto sampled = sampled_time(context, metric);
  if (auto reason = missing_of(context, sampled.has_value(), metric)) {
    stacks.notes.push_back(std::move(*reason));
    return stacks;
  }
  if (sampled) {
    SampledStacks found = sampled_stacks(context.trace, *sampled);
    for (const SampledStack& stack : found.stacks)
      stacks.rows.push_back({.node = stack.stack, .time = stack.time, .count = stack.count});
    stacks.shared.texts.emplace(std::move(found.texts));
    stacks.shared.times = weight_unit(context.trace).empty();
    note_weights(context.trace, stacks.notes);
  } else if (is_of_functions(context, metric)) {
    add_rows(rows_of_functions(context, stacks.notes), stacks.rows);
  } else {
    add_rows(rows_of_operators(context, metric == "device", stacks.notes), stacks.rows);
  }
  for (const Stack& stack : stacks.rows) stacks.shared.time += stack.time;
  return stacks;
}

Report report() {
  return report_of<kColumns, compute>(
      {.id = "stacks",
       .title = "Call stacks and flame graphs, by host, device, processor or blocked time",
       .doc = "A row per distinct stack; --svg draws a flame graph, --folded prints them as other "
              "flame-graph programs read them. With --metric host (the default) the rows sum to "
              "the time that threads were inside of anything; with --metric device to the duration "
              "of all kernels, copies and fills. With --metric on-cpu, blocked or both they sum to "
              "the time that sampled threads were on a processor or blocked, whatever else is "
              "selected. In both, what was blocked ends with (blocked). on-cpu is the default "
              "where nothing but samples was recorded. Of a "
              "profile of "
              "functions alone the rows are functions by their own time.",
       .group_by = {},
       .sort = "",
       .example = "fathom stacks trace.json.gz --metric device --svg > flame.svg",
       .options = kOptions,
       .needs = kNeeds});
}

}  // namespace
}  // namespace stacks_report

Report stacks() { return stacks_report::report(); }

}  // namespace fathom
