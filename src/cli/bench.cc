// fathom bench: measures a command, or two against each other, so that its claims are true.
#include "measure/bench.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include <unistd.h>

#include "base/text_fields.h"
#include "capture/launcher/session_folder.h"
#include "cli/bench_arguments.h"
#include "cli/bench_json.h"
#include "cli/bench_show.h"
#include "cli/bench_varied_json.h"
#include "cli/bench_varied_show.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "measure/command_words.h"
#include "measure/metrics.h"
#include "record/step_watch.h"
#include "render/charset.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

constexpr Duration kProgressEvery = std::chrono::milliseconds(200);

/// A line of the terminal that is written over, between runs: nothing else runs beside them.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(Duration elapsed, const std::string& text) {
    if (!shown_ || (written_ && elapsed - last_ < kProgressEvery)) return;
    last_ = elapsed;
    written_ = true;
    // A line that wraps would not be written over.
    const Style style = style_for(STDERR_FILENO, ColourChoice::never, false);
    const std::string line = in_charset(shorten_end(text, style.width - 1), style);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
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
      .progress =
          [&](const measure::SamplingState& state) {
            line.show(state.elapsed, progress_text(state, paired));
          },
      .announcement =
          [&](const measure::Announcement& announced) {
            line.clear();
            if (!args.quiet)
              say_error(announcement_text(announced, args.options.plan, paired ? "pairs" : "runs"));
          },
      .warning = [&](const std::string& text) { say_warning(text, args.quiet); }};
  return measure::run_bench(args.options, receivers);
}

std::string varied_progress_text(const measure::VariedProgress& progress) {
  std::string text = std::to_string(progress.runs) + " runs, " + about_text(progress.elapsed);
  if (progress.left) text += ", about " + about_text(*progress.left) + " left";
  return text;
}

int report_failure(const measure::Failure& failure) {
  say_error("bench: " + failure.what);
  if (failure.last_words.empty()) return kCheckFailed;
  std::fputs("The end of its standard error:\n", stderr);
  std::string_view rest = failure.last_words;
  while (!rest.empty()) {
    const std::string line = "  " + printable(take_line(rest)) + "\n";
    std::fputs(line.c_str(), stderr);
  }
  return kCheckFailed;
}

/// The three forms of a result, and what it is kept as.
struct Forms {
  std::function<std::string(std::string_view indent)> json;
  std::function<std::string()> csv;
  std::function<std::string()> markdown;
  std::function<std::string(const Style&)> text;
};

Result<void> write(const BenchArguments& args, const Forms& forms, ResultWriter& writer) {
  if (args.output.json) return writer.json(forms.json);
  if (args.csv) return writer.raw(forms.csv());
  return writer.text(args.markdown ? forms.markdown() : forms.text(writer.style()));
}

/// Prints, keeps and plots; `code` where all of that went well. What was measured is printed
/// whatever happens to the files.
int show(const BenchArguments& args, const Forms& forms, const std::string& svg, int code) {
  int files = kFine;
  if (!args.options.keep.empty()) {
    const Result<void> kept =
        write_file(args.options.keep + "/bench.json", "--keep", forms.json("") + "\n");
    if (!kept) files = fail(kept.error());
  }
  if (!args.svg.empty()) {
    if (const Result<void> drawn = write_file(args.svg, "--svg", svg); !drawn)
      files = fail(drawn.error());
  }
  const int shown = write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = write(args, forms, writer);
    return written ? code : fail(written.error());
  });
  return files == kFine ? shown : files;
}

/// Could the file be written? Asked before minutes of measuring, not after.
Result<void> check_place(const std::string& path, std::string_view option) {
  if (path.empty() || path == "-") return {};
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    errno = EISDIR;
  } else if (access(path.c_str(), W_OK) == 0) {
    return {};
  } else if (errno == ENOENT) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) return {};
  }
  return Error{ErrorCode::invalid_argument,
               "bench: " + std::string(option) + ": " + path + ": " + std::strerror(errno)};
}

int of_signal(int signal, int otherwise) { return signal == 0 ? otherwise : 128 + signal; }

int code_of(const std::optional<measure::TargetProgress>& target) {
  if (!target || target->state == measure::TargetState::reached) return kFine;
  return target->state == measure::TargetState::missed ? kCheckFailed : kCannotTell;
}

int run_pairs(const BenchArguments& args) {
  Result<measure::BenchOutcome> outcome = measure_with_messages(args);
  if (!outcome) return fail({ErrorCode::invalid_argument, "bench: " + outcome.error().message});
  if ((*outcome).failure) return report_failure(*(*outcome).failure);
  BenchResult result{
      .options = args.options, .outcome = std::move(*outcome), .metrics = {}, .target = {}};
  result.metrics =
      measure::metrics_of(result.outcome, result.paired(), args.options.plan.resolution);
  if (args.target) {
    result.target = result.metrics.empty()
                        ? measure::TargetProgress{.wanted = *args.target}
                        : measure::target_progress(result.metrics.front(), *args.target);
  }
  const Forms forms = {.json = [&](std::string_view indent) { return bench_json(result, indent); },
                       .csv = [&] { return bench_csv(result); },
                       .markdown = [&] { return bench_markdown(result); },
                       .text = [&](const Style& style) { return bench_text(result, style); }};
  return show(args, forms, args.svg.empty() ? std::string() : bench_svg(result),
              of_signal(result.outcome.interrupted, code_of(result.target)));
}

measure::VariedReceivers receivers_of(const BenchArguments& args, ProgressLine& line) {
  return {.progress =
              [&line](const measure::VariedProgress& progress) {
                line.show(progress.elapsed, varied_progress_text(progress));
              },
          .announcement =
              [&args, &line](const measure::Announcement& announced) {
                line.clear();
                if (!args.quiet)
                  say_error(announcement_text(announced, args.options.plan, "rounds"));
              },
          .warning = [&args](const std::string& text) { say_warning(text, args.quiet); }};
}

int show_varied(const BenchArguments& args, VariedResult& result, int code) {
  if (result.outcome.failure) return report_failure(*result.outcome.failure);
  result.verdict =
      measure::judge_sweep(result.outcome, result.paired(), args.options.plan.resolution);
  const Forms forms = {.json = [&](std::string_view indent) { return varied_json(result, indent); },
                       .csv = [&] { return varied_csv(result); },
                       .markdown = [&] { return varied_markdown(result); },
                       .text = [&](const Style& style) { return varied_text(result, style); }};
  return show(args, forms, args.svg.empty() ? std::string() : varied_svg(result),
              of_signal(result.outcome.interrupted, code));
}

int run_sweep(const BenchArguments& args) {
  ProgressLine line(args.quiet);
  Result<measure::VariedOutcome> outcome =
      measure::run_sweep({.varied = *args.sweep, .bench = args.options}, receivers_of(args, line));
  line.clear();
  if (!outcome) return fail({ErrorCode::invalid_argument, "bench: " + outcome.error().message});
  VariedResult result{
      .options = args.options, .outcome = std::move(*outcome), .verdict = {}, .crossover = {}};
  const bool any = std::ranges::any_of(result.outcome.points,
                                       [](const auto& point) { return !point.now.empty(); });
  return show_varied(args, result, any ? kFine : kCheckFailed);
}

int run_crossover(const BenchArguments& args) {
  ProgressLine line(args.quiet);
  Result<measure::CrossoverOutcome> outcome = measure::run_crossover(
      {.range = *args.crossover, .bench = args.options}, receivers_of(args, line));
  line.clear();
  if (!outcome) return fail({ErrorCode::invalid_argument, "bench: " + outcome.error().message});
  VariedResult result{.options = args.options,
                      .outcome = std::move(outcome->varied),
                      .verdict = {},
                      .crossover = std::move(*outcome)};
  const bool known = result.crossover->crossing != measure::Crossing::unknown;
  return show_varied(args, result, known ? kFine : kCannotTell);
}

int run_bisect(const BenchArguments& args) {
  BisectResult result{.options = {.range = *args.bisect, .bench = args.options}, .outcome = {}};
  auto& limit = result.options.bench.child.memory_limit;
  if (!limit) limit = measure::default_memory_limit();
  Result<measure::BisectOutcome> outcome =
      measure::run_bisect(result.options, [&](const measure::Probe& probe) {
        if (!args.quiet) say_error(probe_text(result.options.range.name, probe));
      });
  if (!outcome) return fail({ErrorCode::invalid_argument, "bench: " + outcome.error().message});
  if (outcome->failure) return report_failure(*outcome->failure);
  result.outcome = std::move(*outcome);
  const Forms forms = {.json = [&](std::string_view indent) { return bisect_json(result, indent); },
                       .csv = [&] { return bisect_csv(result); },
                       .markdown = [&] { return bisect_markdown(result); },
                       .text = [&](const Style& style) { return bisect_text(result, style); }};
  return show(
      args, forms, {},
      of_signal(result.outcome.interrupted, result.outcome.largest == 0 ? kCheckFailed : kFine));
}

/// The same words about our own option.
Error kept_error(const Error& error) {
  constexpr std::string_view kOther = "--output: ";
  std::string message = error.message;
  if (message.starts_with(kOther)) message.erase(0, kOther.size());
  return {error.code, "bench: --keep: " + message};
}

/// With what the machine has: GPUs are watched wherever there are some.
bool watches_devices(const measure::BenchOptions& options) {
  const measure::Metric* const metric = measure::metric_named(options.metric);
  return (metric != nullptr && metric->of_devices) || options.given.price_per_kwh ||
         record::gpus_here();
}

/// What the operations of a step take at the peak of the device, as the roofline has them.
Result<double> ideal_step_ns(const std::string& recording) {
  const Result<std::unique_ptr<Session>> session = Session::open(recording, {});
  if (!session) return session.error();
  const Result<Diagnosis> diagnosis = diagnose(**session, {});
  if (!diagnosis) return diagnosis.error();
  const std::optional<double>& mfu = diagnosis->baseline.mfu_percent;
  if (!mfu)
    return Error{ErrorCode::unsupported,
                 recording +
                     ": no operations of its steps are known; that takes a device whose "
                     "peak is known, and shapes (record_shapes)"};
  return *mfu / 100 * diagnosis->usual_ns.mean;
}

int run_bench(BenchArguments& args) {
  if (const std::string why = contradiction_in(args); !why.empty())
    return fail({ErrorCode::invalid_argument, "bench: " + why});
  if (!args.base.empty()) {
    Result<std::vector<std::string>> base = measure::command_words(args.base);
    if (!base) return fail(std::move(base).error().in("bench: --base"));
    args.options.base = std::move(*base);
  }
  for (const auto& [path, option] :
       {std::pair{&args.svg, "--svg"}, std::pair{&args.output.path, "--output"}}) {
    if (const Result<void> place = check_place(*path, option); !place) return fail(place.error());
  }
  if (!args.folder.empty()) {
    const Result<capture::SessionFolder> folder =
        capture::make_session_folder(args.folder, "bench");
    if (!folder) return fail(kept_error(folder.error()));
    args.options.keep = folder->absolute;
  }
  if (!args.model.empty()) {
    const Result<double> ideal = ideal_step_ns(args.model);
    if (!ideal) return fail(Error(ideal.error()).in("bench: --model"));
    args.options.given.ideal_step_ns = *ideal;
  }
  args.options.plan = plan_of(args);
  args.options.telemetry = watches_devices(args.options);
  if (args.sweep) return run_sweep(args);
  if (args.crossover) return run_crossover(args);
  if (args.bisect) return run_bisect(args);
  return run_pairs(args);
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
      "The exit code is 0 whatever the verdict, but for --target; 4 when the search for a "
      "crossover ends without an answer; 1 when a run fails or takes longer than it may, or no "
      "value of --sweep or --bisect "
      "runs; "
      "128 + N when signal N ends the bench, whose results are then printed as they are. "
      "docs/bench.md has the rules.";
  command.examples = {"fathom bench -- python train.py --steps 20",
                      "fathom bench --base 'python old.py' -- python new.py",
                      "fathom bench --resolution 0.5% --base './a.out 1' -- ./a.out 2",
                      "fathom bench --runs 30 --json --base ./old -- ./new | jq .metrics[0]",
                      "fathom bench --target 20% --base 'python old.py' -- python new.py",
                      "fathom bench --sweep num_workers=auto -- ./train {num_workers}",
                      "fathom bench --bisect batch --memory-limit 8GiB -- ./train {batch}",
                      "fathom bench --crossover n=1000 --base './cpu {n}' -- ./gpu {n}"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<BenchArguments>();
    options.rest("COMMAND", args->options.command);
    declare_bench(options, *args);
    return [args] { return run_bench(*args); };
  };
  return command;
}

}  // namespace fathom::cli
