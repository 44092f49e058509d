// fathom sample: where a running process tree spends its processor time.
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "capture/launcher/amounts.h"
#include "cli/command.h"
#include "cli/frame_show.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/selection_options.h"
#include "cli/version.h"
#include "record/stack_sampling.h"

namespace fathom::cli {
namespace {

using record::SampledStacks;
using sample::StackState;
using sample::WeighedStack;

struct SampleArguments {
  std::vector<std::string> pids;
  Duration duration{5'000'000'000};
  int rate = 100;
  bool alone = false;
  bool native = false;
  bool json = false;
  bool quiet = false;
  std::string output;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): set by the handler of Ctrl-C
volatile std::sig_atomic_t interrupted = 0;

/// What takes the place of the functions that are not known.
std::string_view mark_of(const WeighedStack& stack) {
  if (stack.native) return {};
  if (!stack.python) return "(no Python)";
  if (stack.state == StackState::unread) return "(stack not read)";
  if (stack.state == StackState::shortened) return "(inner functions not read)";
  return stack.frames.empty() ? "(no Python function)" : "";
}

/// A line for each stack: its frames from the outermost on, between them ";", then the nanoseconds.
std::string as_folded(const SampledStacks& samples) {
  std::string out;
  for (const WeighedStack& stack : samples.stacks) {
    std::string line;
    const auto add = [&line](std::string text) {
      for (char& c : text) {
        if (c == ';' || c == '\n') c = ',';
      }
      line += (line.empty() ? "" : ";") + text;
    };
    for (const sample::FrameLook& frame : stack.frames) {
      const std::string place = place_text(frame);
      add(frame.function + (place.empty() ? "" : " (" + place + ")"));
    }
    const std::string_view mark = mark_of(stack);
    if (!mark.empty()) add(std::string(mark));
    out += line + " " + std::to_string(stack.on_cpu) + "\n";
  }
  return out;
}

void write_native(JsonWriter& json, const sample::native::WatchCounts& counts) {
  json.key("native")
      .object(kJsonInline)
      .member("samples", counts.samples)
      .member("joined", counts.joined)
      .member("unmatched", counts.unmatched)
      .member("cut", counts.cut)
      .member("by_code", counts.by_code)
      .member("lost", counts.lost)
      .member("threads_refused", counts.refused)
      .member("refusal", counts.refusal)
      .end();
}

std::string as_json(const SampledStacks& samples, bool native) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().member("schema", "fathom.samples/1").member("fathom", version());
  json.member("rounds", samples.state.rounds).member("late", samples.state.late);
  json.member("on_cpu_ns", samples.on_cpu);
  json.key("counts")
      .object(kJsonInline)
      .member("whole", samples.state.counts.whole)
      .member("shortened", samples.state.counts.shortened)
      .member("unread", samples.state.counts.unread)
      .end();
  if (native) write_native(json, samples.state.native);
  json.key("not_read").texts(samples.state.unread);
  json.key("stacks").array(kJsonLines);
  for (const WeighedStack& stack : samples.stacks) {
    json.object(kJsonInline).member("on_cpu_ns", stack.on_cpu).member("samples", stack.samples);
    json.member("python", stack.python).member("stack", to_string(stack.state));
    write_frames(json, stack.frames, kJsonInline);
    json.end();
  }
  json.end().end();
  return out + "\n";
}

std::string percent_of(std::int64_t part, std::int64_t all) {
  return std::to_string(all > 0 ? (100 * part + all / 2) / all : 0) + " %";
}

void say_native(const sample::native::WatchCounts& counts) {
  say_error(std::to_string(counts.samples) + " native stacks: " + std::to_string(counts.joined) +
            " with Python's functions, " + std::to_string(counts.unmatched) +
            " that do not match Python's, " + std::to_string(counts.cut) +
            " without their outer functions, " + std::to_string(counts.by_code) +
            " by instructions where there are no rules, " + std::to_string(counts.lost) + " lost");
  if (counts.refused > 0) {
    say_warning(
        "no native functions of " + std::to_string(counts.refused) + " threads: " + counts.refusal,
        false);
  }
}

void say_counts(const SampledStacks& samples, bool quiet) {
  if (quiet) return;
  const sample::StackCounts& counts = samples.state.counts;
  const std::int64_t all = counts.whole + counts.shortened + counts.unread;
  say_error(std::to_string(all) + " stacks: " + percent_of(counts.whole, all) + " whole, " +
            percent_of(counts.shortened, all) + " shortened, " + percent_of(counts.unread, all) +
            " not read; " + std::to_string(samples.on_cpu / 1'000'000) +
            " ms of processor time by the scheduler");
  if (samples.state.late > 0)
    say_warning(std::to_string(samples.state.late) + " looks were left out: the machine was busy",
                false);
  for (const std::string& process : samples.state.unread) say_warning(process, false);
}

int run_sample(const SampleArguments& arguments) {
  Result<std::vector<pid_t>> pids = parse_pids(arguments.pids);
  if (!pids) return fail(std::move(pids).error().in("sample"));
  const auto sampling = record::StackSampling::open(
      (*pids).front(),
      {.rate = arguments.rate, .alone = arguments.alone, .native = arguments.native});
  if (!sampling) return fail(sampling.error());
  Result<Output> output = Output::open(arguments.output);
  if (!output) return fail(output.error());
  std::signal(SIGINT, [](int) { interrupted = 1; });
  const SampledStacks samples =
      (*sampling)->run(arguments.duration, [] { return interrupted != 0; });
  const Result<void> written =
      (*output).write(arguments.json ? as_json(samples, arguments.native) : as_folded(samples));
  const Result<void> finished = written ? (*output).finish() : written;
  if (!finished) return fail(finished.error());
  say_counts(samples, arguments.quiet);
  if (arguments.native && !arguments.quiet) say_native(samples.state.native);
  return kFine;
}

}  // namespace

Command sample_command() {
  Command command;
  command.name = "sample";
  command.group = "Capture";
  command.title = "Where a running program spends its processor time, in functions";
  command.operand = "PID";
  command.doc =
      "Looks again and again at the Python stacks of a running process and of those below it, from "
      "outside and without stopping them, and prints them as folded stacks for flame graphs. A "
      "stack weighs the nanoseconds that its thread ran, by the scheduler, since the look before: "
      "all weights sum to the processor time that was used. Functions that are not certain are "
      "left out and marked. The program needs no preparation. --native adds native functions, by "
      "perf: then programs without Python have stacks, too.";
  command.examples = {"fathom sample 12345 --native -o stacks.folded",
                      "fathom sample 12345 --duration 10s -o stacks.folded",
                      "fathom sample $(pgrep -o torchrun) --rate 250"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto arguments = std::make_shared<SampleArguments>();
    options.operands("PID", arguments->pids, 1);
    options.parsed("--duration", "TIME", into(arguments->duration, capture::parse_duration),
                   "How long to look (default 5s)");
    options.parsed("--rate", "RATE", number_into<int>(arguments->rate, 1),
                   "How often a second, at most 10000 (default 100)");
    options.flag("--alone", arguments->alone, "Only this process, not those below it");
    options.flag("--native", arguments->native,
                 "Native functions, too, with Python's where the interpreter runs them");
    options.group("Output");
    options.text("-o,--output", "FILE", arguments->output, "Instead of standard output");
    options.flag("--json", arguments->json, "JSON, schema fathom.samples/1");
    options.flag("-q,--quiet", arguments->quiet, "No messages but errors");
    return [arguments] {
      if (arguments->pids.size() > 1 || arguments->rate > 10000) {
        return fail({.code = ErrorCode::invalid_argument,
                     .message = arguments->rate > 10000
                                    ? "sample: --rate is at most 10000"
                                    : "sample: one PID; those below it are looked at, too"});
      }
      return run_sample(*arguments);
    };
  };
  return command;
}

}  // namespace fathom::cli
