// Declares and parses the options of `fathom bench`.
#include "cli/bench_arguments.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/available_threads.h"
#include "capture/launcher/amounts.h"
#include "measure/metrics.h"

namespace fathom::cli {
namespace {

constexpr double kResolution = 0.01;
constexpr double kCrossoverResolution = 0.05;
constexpr std::size_t kCrossoverPairs = 8;
constexpr Duration kDefaultTime = std::chrono::minutes(1);
constexpr std::size_t kFewestPairs = 6;

/// "1%", "0.5 %".
Result<double> parse_percent(std::string_view text) {
  double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string_view unit(parsed.ptr,
                        static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (parsed.ec != std::errc() || unit != "%" || !(number >= 0.001 && number <= 100)) {
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(text) + "' is not a difference from 0.001% to 100%, as 1%"};
  }
  return number / 100;
}

/// "step", "first-step"; "auto".
Result<std::string> parse_metric(std::string_view text) {
  std::string id(text);
  std::ranges::replace(id, '-', '_');
  if (id == measure::kAutoMetric || measure::metric_named(id) != nullptr) return id;
  std::string names(measure::kAutoMetric);
  for (const measure::Metric& metric : measure::all_metrics()) {
    std::string name(metric.id);
    std::ranges::replace(name, '_', '-');
    names += ", " + name;
  }
  return Error{ErrorCode::invalid_argument,
               "'" + std::string(text) + "' is no metric; there are: " + names};
}

/// "20%".
Result<double> parse_saving(std::string_view text) {
  Result<double> saving = parse_percent(text);
  if (!saving || *saving >= 1) {
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(text) + "' is no saving below 100%, as 20%"};
  }
  return saving;
}

Result<measure::VariedRange> parse_range_text(std::string_view text) {
  return measure::parse_range(text);
}

Result<std::int64_t> parse_limit(std::string_view text) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20U;
  Result<std::int64_t> bytes = capture::parse_size(text);
  if (bytes && *bytes < kLeast) return Error{ErrorCode::invalid_argument, "must be at least 1MiB"};
  return bytes;
}

Result<Duration> parse_some_time(std::string_view text) {
  Result<Duration> time = capture::parse_duration(text);
  if (time && *time <= Duration{}) return Error{ErrorCode::invalid_argument, "must be more than 0"};
  return time;
}

/// Parsed as a plain number into what may stay unset.
template <typename Number>
Options::Parse number_into_optional(std::optional<Number>& target, Number smallest) {
  return [&target, smallest](const std::string& text) -> Result<void> {
    Number number{};
    Result<void> parsed = number_into(number, smallest)(text);
    if (parsed) target = number;
    return parsed;
  };
}

void declare_sampling(Options& options, BenchArguments& args) {
  options.group("What to measure");
  options.parsed(
      "--base", "CMD",
      [&args](const std::string& text) -> Result<void> {
        // As of "$OLD" where OLD is not set: without a base another thing would be measured.
        if (text.find_first_not_of(" \t\n") == std::string::npos)
          return Error{ErrorCode::invalid_argument, "an empty command"};
        args.base = text;
        return {};
      },
      "Measure against this command, in pairs of random order. Quotes are as in a shell, "
      "but none is started: sh -c '…' where one is needed");
  options.parsed(
      "--metric", "METRIC",
      [&args](const std::string& text) -> Result<void> {
        Result<std::string> id = parse_metric(text);
        if (!id) return std::move(id).error();
        args.options.metric = std::move(*id);
        return {};
      },
      "What decides: step, throughput, mfu, first-step, step-mean, step-rate, loader-wait, epoch, "
      "wall, cpu, user, system, peak-memory, gpu-memory, energy, step-energy, epoch-energy, cost, "
      "epoch-cost. Without it, "
      "the step where the runs of the "
      "warm-up have steps, else the wall time");
  options.text("--model", "RECORDING", args.model,
               "A recording of the same steps on the same device, with shapes: it shows what they "
               "compute, so that each run has its MFU");
  options.parsed("--price", "MONEY", rate_into(args.options.given.price_per_kwh),
                 "Of a kWh: what the energy of a run, and of an epoch, costs");
  options.parsed("--target", "PERCENT", into(args.target, parse_saving),
                 "A wanted saving against --base: exit code 0 when it is reached, 1 when it is "
                 "missed, 4 when that is unknown");
  options.group("What to vary");
  options.parsed(
      "--sweep", "NAME=VALUES",
      [&args](const std::string& text) -> Result<void> {
        Result<measure::Varied> varied = measure::parse_sweep(text, available_threads());
        if (!varied) return std::move(varied).error();
        args.sweep = std::move(*varied);
        return {};
      },
      "Each of these values: batch=8,16,32 replaces {batch} in the command, else is a variable of "
      "the environment. num_workers=auto is 0, 1, 2, 4 … up to the cores that this process may "
      "keep busy");
  options.parsed("--crossover", "NAME=A..B", into(args.crossover, parse_range_text),
                 "From which size on the command costs no more than --base: A is doubled, up to B, "
                 "then bisected. 8 pairs at each size (--runs), down to 5 % (--resolution)");
  options.parsed("--bisect", "NAME=A..B", into(args.bisect, parse_range_text),
                 "The largest value with which the command runs whole steps, in fresh processes "
                 "under a memory limit; without bounds from 1 on");
  options.parsed(
      "--memory-limit", "SIZE", into(args.options.child.memory_limit, parse_limit),
      "What each process may have for itself, as 8GiB: for --sweep, and for --bisect (there by "
      "default half of what is available)");
  options.group("When to stop");
  options.parsed("--runs", "N", number_into_optional<std::size_t>(args.runs, 1),
                 "Exactly so many pairs, or runs of a command that is measured alone");
  options.parsed("--time", "TIME", into(args.time, parse_some_time),
                 "No pair begins after this: 30s, 5min. Without any of these, as soon as 1 % is "
                 "decided or a minute has passed");
  options.parsed("--resolution", "PERCENT", into(args.resolution, parse_percent),
                 "Measure until a difference of so much would be decided (default 1%). Within it "
                 "two commands are called the same");
  options.group("How to run");
  options.parsed("--warmup", "N", number_into<std::size_t>(args.options.warmup, 0),
                 "Runs of each command before, which are not counted (default 1)");
  options.text(
      "--prepare", "CMD", args.options.prepare,
      "Run by sh -c before each run, with the same --timeout and the value that is varied, and not "
      "timed");
  options.parsed("--timeout", "TIME", into(args.options.child.timeout, parse_some_time),
                 "End a run that takes longer: the bench fails");
  options.text("--input", "FILE", args.options.child.input,
               "Standard input of each run; without it there is nothing to read");
  options.flag("--show-output", args.options.child.show_output,
               "What the commands print goes to standard error, not nowhere");
  options.flag("--ignore-failure", args.options.ignore_failure,
               "Count runs that end with another exit code than 0");
  options.parsed("--seed", "N", number_into_optional<std::uint64_t>(args.seed, 0),
                 "Of the order within pairs; printed with every result");
}

/// An option that a bisection would ignore; empty where there is none.
std::string ignored_by_bisect(const BenchArguments& args) {
  const std::pair<bool, std::string_view> given[] = {
      {args.runs.has_value(), "--runs"},
      {args.time.has_value(), "--time"},
      {args.resolution.has_value(), "--resolution"},
      {args.seed.has_value(), "--seed"},
      {args.options.metric != measure::kAutoMetric, "--metric"},
      {args.options.warmup != measure::BenchOptions().warmup, "--warmup"},
      {args.options.ignore_failure, "--ignore-failure"},
      {!args.model.empty(), "--model"},
      {args.options.given.price_per_kwh.has_value(), "--price"}};
  for (const auto& [is_given, option] : given)
    if (is_given) return std::string(option);
  return {};
}

}  // namespace

void declare_bench(Options& options, BenchArguments& args) {
  declare_sampling(options, args);
  options.group("Output");
  options.flag("--json", args.output.json,
               "JSON with every run: schema fathom.bench/1, of --sweep and --crossover "
               "fathom.bench_sweep/1, of --bisect fathom.bench_bisect/1");
  options.flag("--csv", args.csv, "CSV: a row for each run");
  options.flag("--markdown", args.markdown, "Markdown, for a review or a step summary");
  options.text("--svg", "FILE", args.svg,
               "A plot of the runs, or of what --sweep or --crossover varies, as SVG");
  options.text("--keep", "DIR", args.folder,
               "Keep the results (bench.json) and what each run timed, as session folders, in "
               "this new or empty folder");
  declare_text_output(options, args.output);
  options.flag("-q,--quiet", args.quiet, "No warnings and no progress on standard error");
}

measure::SamplingPlan plan_of(const BenchArguments& args) {
  measure::SamplingPlan plan;
  plan.paired = !args.base.empty();
  plan.runs = args.runs;
  plan.time = args.time;
  plan.resolution = args.resolution.value_or(args.crossover ? kCrossoverResolution : kResolution);
  plan.until_precise = !args.runs && (!args.time || args.resolution);
  if (args.crossover) {
    plan.runs = args.runs.value_or(kCrossoverPairs);
  } else if (!args.runs && !args.time && !args.resolution) {
    plan.time = kDefaultTime;
    plan.least = kFewestPairs;
  }
  plan.seed = args.seed ? *args.seed : measure::new_seed();
  return plan;
}

std::string contradiction_in(const BenchArguments& args) {
  const int varied =
      int{args.sweep.has_value()} + int{args.crossover.has_value()} + int{args.bisect.has_value()};
  if (int{args.output.json} + int{args.csv} + int{args.markdown} > 1)
    return "one of --json, --csv and --markdown";
  if (varied > 1) return "one of --sweep, --crossover and --bisect";
  if (args.options.metric == measure::kMfuMetric && args.model.empty())
    return "--metric mfu needs --model, a recording of what the steps compute";
  if (args.options.metric.ends_with("cost") && !args.options.given.price_per_kwh)
    return "--metric cost and epoch-cost need --price";
  if (args.crossover && args.base.empty()) return "--crossover needs two commands: --base";
  if (args.bisect && !args.base.empty()) return "--bisect is of one command, without --base";
  if (const std::string option = args.bisect ? ignored_by_bisect(args) : ""; !option.empty())
    return option + " has no meaning with --bisect, which only asks whether each value runs";
  if (args.options.child.memory_limit && !args.bisect && !args.sweep)
    return "--memory-limit belongs to --bisect and --sweep";
  if (args.target && (args.base.empty() || varied > 0))
    return "--target is a saving against --base, of two commands without --sweep, --crossover and "
           "--bisect";
  if (!args.svg.empty() && args.bisect) return "--svg has nothing to plot of --bisect";
  return {};
}

}  // namespace fathom::cli
