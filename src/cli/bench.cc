// fathom bench: measures a command, or two against each other, so that its claims are true.
#include "measure/bench.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include <unistd.h>

#include "capture/launcher/amounts.h"
#include "cli/bench_json.h"
#include "cli/bench_show.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "measure/command_words.h"
#include "measure/metrics.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

constexpr double kResolution = 0.01;
constexpr Duration kDefaultTime = std::chrono::minutes(1);
constexpr std::size_t kFewestPairs = 6;
constexpr Duration kProgressEvery = std::chrono::milliseconds(200);

struct BenchArguments {
  measure::BenchOptions options;
  std::string base;
  std::optional<std::size_t> runs;
  std::optional<Duration> time;
  std::optional<double> resolution;
  std::optional<std::uint64_t> seed;
  OutputArguments output;
  bool csv = false;
  bool markdown = false;
  bool quiet = false;
};

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

template <typename Value>
Options::Parse into(std::optional<Value>& target, Result<Value> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) -> Result<void> {
    Result<Value> value = parse(text);
    if (!value) return std::move(value).error();
    target = *value;
    return {};
  };
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

/// One of --runs, --time and --resolution ends it; with none, the resolution of 1 % or a minute.
measure::SamplingPlan plan_of(const BenchArguments& args) {
  measure::SamplingPlan plan;
  plan.paired = !args.base.empty();
  plan.runs = args.runs;
  plan.time = args.time;
  plan.resolution = args.resolution.value_or(kResolution);
  plan.until_precise = !args.runs && (!args.time || args.resolution);
  if (!args.runs && !args.time && !args.resolution) {
    plan.time = kDefaultTime;
    plan.least = kFewestPairs;
  }
  plan.seed = args.seed ? *args.seed : measure::new_seed();
  return plan;
}

/// A line of the terminal that is written over, between runs: nothing else runs beside them.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const measure::SamplingState& state, bool paired) {
    if (!shown_ || (written_ && state.elapsed - last_ < kProgressEvery)) return;
    last_ = state.elapsed;
    written_ = true;
    std::fprintf(stderr, "\r\033[K%s", progress_text(state, paired).c_str());
    std::fflush(stderr);
  }
  void clear() {
    if (written_) std::fputs("\r\033[K", stderr);
    written_ = false;
  }

 private:
  bool shown_;
  bool written_ = false;
  Duration last_{};
};

Result<measure::BenchOutcome> measure_with_messages(const BenchArguments& args) {
  ProgressLine line(args.quiet);
  const bool paired = !args.options.base.empty();
  const measure::BenchReceivers receivers = {
      .progress = [&](const measure::SamplingState& state) { line.show(state, paired); },
      .announcement =
          [&](const measure::Announcement& announced) {
            line.clear();
            if (!args.quiet) say_error(announcement_text(announced, args.options.plan));
          },
      .warning = [&](const std::string& text) { say_warning(text, args.quiet); }};
  return measure::run_bench(args.options, receivers);
}

int report_failure(const measure::Failure& failure) {
  say_error("bench: " + failure.what);
  if (failure.last_words.empty()) return kCheckFailed;
  std::fputs("The end of its standard error:\n", stderr);
  std::string_view rest = failure.last_words;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string line = "  " + printable(rest.substr(0, end)) + "\n";
    std::fputs(line.c_str(), stderr);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return kCheckFailed;
}

Result<void> write(const BenchArguments& args, const BenchResult& result, ResultWriter& writer) {
  if (args.output.json)
    return writer.json([&](std::string_view indent) { return bench_json(result, indent); });
  if (args.csv) return writer.raw(bench_csv(result));
  return writer.text(args.markdown ? bench_markdown(result) : bench_text(result, writer.style()));
}

int run(BenchArguments& args) {
  if (int{args.output.json} + int{args.csv} + int{args.markdown} > 1)
    return fail({ErrorCode::invalid_argument, "bench: one of --json, --csv and --markdown"});
  if (!args.base.empty()) {
    Result<std::vector<std::string>> base = measure::command_words(args.base);
    if (!base) return fail(std::move(base).error().in("bench: --base"));
    args.options.base = std::move(*base);
  }
  args.options.plan = plan_of(args);
  Result<measure::BenchOutcome> outcome = measure_with_messages(args);
  if (!outcome) return fail({ErrorCode::invalid_argument, "bench: " + outcome.error().message});
  if ((*outcome).failure) return report_failure(*(*outcome).failure);
  BenchResult result{.options = args.options, .outcome = std::move(*outcome), .metrics = {}};
  result.metrics =
      measure::metrics_of(result.outcome, result.paired(), args.options.plan.resolution);
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = write(args, result, writer);
    if (!written) return fail(written.error());
    return result.outcome.interrupted == 0 ? kFine : 128 + result.outcome.interrupted;
  });
}

void declare_sampling(Options& options, BenchArguments& args) {
  options.group("What to measure");
  options.text("--base", "CMD", args.base,
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
      "What decides: step, first-step, loader-wait, wall, user, system, peak-memory. Without it, "
      "the step where the runs of the warm-up are of Python and have steps, else the wall time");
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
  options.text("--prepare", "CMD", args.options.prepare,
               "Run by sh -c before each run, and not timed");
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

}  // namespace

Command bench() {
  Command command;
  command.name = "bench";
  command.group = "Diagnosis";
  command.title = "How long does a command take, and is it faster than another?";
  command.operand = "-- COMMAND…";
  command.doc =
      "Runs the command again and again, each time in a new process, and describes its wall time, "
      "processor time and peak memory. Of a Python program that goes on in steps it measures the "
      "step, as `fathom run` sees it, without the profiler. With --base two commands are run in "
      "pairs whose order is "
      "drawn at random, so that drift, neighbours and who comes first cannot look like a "
      "difference. The verdict is faster, slower, same within the resolution, or cannot tell; "
      "below 6 pairs nothing is claimed. Sampling stops by precision, blind to which is slower. "
      "The exit code is 0 whatever the verdict, 1 when a run fails or takes longer than it may, "
      "128 + N when signal N ends the bench, whose results are then printed as they are. "
      "docs/bench.md has the rules.";
  command.examples = {"fathom bench -- python train.py --steps 20",
                      "fathom bench --base 'python old.py' -- python new.py",
                      "fathom bench --resolution 0.5% --base './a.out 1' -- ./a.out 2",
                      "fathom bench --runs 30 --json --base ./old -- ./new | jq .metrics[0]"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<BenchArguments>();
    options.rest("COMMAND", args->options.command);
    declare_sampling(options, *args);
    options.group("Output");
    options.flag("--json", args->output.json, "JSON, schema fathom.bench/1, with every run");
    options.flag("--csv", args->csv, "CSV: a row for each run");
    options.flag("--markdown", args->markdown, "Markdown, for a review or a step summary");
    declare_text_output(options, args->output);
    options.flag("-q,--quiet", args->quiet, "No warnings and no progress on standard error");
    return [args] { return run(*args); };
  };
  return command;
}

}  // namespace fathom::cli
