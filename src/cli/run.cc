// fathom run: captures a program, then diagnoses it.
#include "record/run.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "capture/launcher/amounts.h"
#include "cli/command.h"
#include "cli/dump_show.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/run_show.h"
#include "cli/selection_options.h"
#include "cli/version.h"

namespace fathom::cli {
namespace {

/// Everything on the command line.
struct RunArguments {
  record::RunOptions options;
  std::string sources;  ///< Empty where it is not given.
  bool no_diagnose = false;
  bool no_overhead = false;
  bool quiet = false;
};

/// The option that was given in vain without --with lines, or nothing.
std::string_view idle_option(const RunArguments& arguments) {
  const capture::Recording& recording = arguments.options.recording;
  if (std::ranges::find(recording.with, "lines") != recording.with.end()) return {};
  if (!recording.lines_of.empty()) return "--lines-of";
  return arguments.sources.empty() ? std::string_view() : "--sources";
}

int run_run(RunArguments& arguments) {
  record::RunOptions& options = arguments.options;
  if (const std::string_view idle = idle_option(arguments); !idle.empty())
    return fail({ErrorCode::invalid_argument,
                 "run: " + std::string(idle) + " is of lines; add --with lines to record them"});
  if (!arguments.sources.empty()) options.recording.sources = arguments.sources;
  options.recording.overhead = !arguments.no_overhead;
  options.version = version();
  options.show_dump = [](const std::vector<sample::ProcessLook>& processes, double milliseconds) {
    const record::TreeLooks looks{.processes = processes, .milliseconds = milliseconds};
    return record::DumpTexts{.text = dump_text(looks, Style{}, true), .json = dump_json(looks)};
  };
  const Result<record::RunOutcome> outcome =
      record::record_run(options, recording_messages(arguments.quiet));
  if (!outcome) return fail(outcome.error());
  if ((*outcome).started && !arguments.no_diagnose)
    show_recording((*outcome).folder, arguments.quiet);
  return (*outcome).exit_code;
}

template <int Smallest, int Largest>
Result<double> parse_real(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
      !(number >= Smallest && number <= Largest)) {
    return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not a number from " +
                                                  std::to_string(Smallest) + " to " +
                                                  std::to_string(Largest)};
  }
  return number;
}

/// "off" is no time.
Result<Duration> parse_hang(std::string_view text) {
  if (text == "off") return Duration{};
  Result<Duration> duration = capture::parse_duration(text);
  if (duration && *duration <= Duration{})
    return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is no time; off is"};
  return duration;
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "on" || text == "true" || text == "1") return true;
  if (text == "off" || text == "false" || text == "0") return false;
  return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not on or off"};
}

template <const auto& Names>
Result<std::string> parse_name(std::string_view text) {
  std::string known;
  for (const std::string_view kind : Names) {
    if (kind == text) return std::string(text);
    known += (known.empty() ? "" : ", ") + std::string(kind);
  }
  return Error{ErrorCode::invalid_argument,
               "there is no '" + std::string(text) + "'; there are " + known};
}

template <typename Names>
std::vector<std::string> choices(const Names& names) {
  return {names.begin(), names.end()};
}

void declare_what(Options& options, RunArguments& arguments) {
  capture::Recording& recording = arguments.options.recording;
  options.group("What to record");
  options.parsed(
      "--with", "LIST", into(recording.with, capture::parse_extras),
      "Also record these, separated by commas: shapes, stacks, memory and flops of torch's "
      "operators; functions of Python (a deterministic profile), functions=c: those of C, too; "
      "functions=calls or functions=calls:TIME: each call of at least that long (default 100us) on "
      "the timeline; lines of the program's own Python code; libraries: calls of cuBLAS and "
      "cuDNN with their arguments, where CUDA is recorded from inside the program; gpu-metrics: "
      "hardware counters of the GPU (SM, Tensor Cores, bandwidth); samples or samples=RATE: what "
      "threads do, from outside, 100 times a second (the default where PyTorch is not in the "
      "process; samples=0 for none; with native functions, below those of Python)",
      choices(capture::kExtras));
  options.list("--lines-of", "MODULE", recording.lines_of,
               "With --with lines: also the lines of this module and those below it, which the "
               "program did not write itself; repeat for more");
  options.parsed(
      "--sources", "WHAT", into(arguments.sources, parse_name<capture::kSourceKinds>),
      "With --with lines: keep the text of the program's own source files in the session "
      "folder: on (the default), off, or redacted, without what texts and comments say",
      choices(capture::kSourceKinds));
  options.parsed("--steps", "SCHEDULE", into(recording.steps, capture::parse_schedule),
                 "Which steps torch.profiler records, as in its schedule: wait=1,warmup=1,active=3,"
                 "repeat=1,skip_first=0 is the default; repeat=0 repeats until the end");
  options.parsed("--step-by", "WHAT", into(recording.step_by, parse_name<capture::kStepKinds>),
                 "What counts as a step: auto (the default), optimizer, module (calls of the "
                 "outermost one), time, loader (batches), mark (fathom.step() in the program)",
                 choices(capture::kStepKinds));
  options.parsed(
      "--cuda", "MODE", into(recording.cuda, parse_name<capture::kCudaModes>),
      "CUDA from inside the program: auto (the default) leaves processes with PyTorch to "
      "torch.profiler; off; always takes them too, and leaves torch.profiler no GPU",
      choices(capture::kCudaModes));
  options.flag(
      "--graph-nodes", recording.graph_nodes,
      "Record each node of CUDA graphs, not each graph as a whole; reports what that costs");
  options.parsed("--gpu-metrics-rate", "HZ", into(recording.gpu_metrics_hz, parse_real<10, 10000>),
                 "Samples per second of --with gpu-metrics (default 1000)");
  options.parsed("--telemetry", "HZ", into(arguments.options.telemetry_hz, parse_real<0, 1000>),
                 "Samples of CPU, memory, I/O and GPU per second (default 10); 0 for none");
  options.flag("--no-overhead", arguments.no_overhead,
               "Do not interleave unrecorded steps to measure what recording costs");
}

void declare_when(Options& options, RunArguments& arguments) {
  capture::Recording& recording = arguments.options.recording;
  options.group("When to record");
  options.parsed("--delay", "TIME", into(recording.delay, capture::parse_duration),
                 "Begin this long after the program has started: 30s, 500ms, 2min");
  options.parsed("--duration", "TIME", into(recording.duration, capture::parse_duration),
                 "Record for this long, by time instead of steps");
  options.text("--range", "NAME", recording.range,
               "Record only inside annotations of this name; cuda-profiler: between "
               "cudaProfilerStart() and cudaProfilerStop()");
  options.parsed(
      "--on-signal", "SIGNAL", into(recording.on_signal, capture::parse_signal),
      "Begin when this signal arrives, for example SIGUSR2, and end when it arrives again",
      {"SIGUSR1", "SIGUSR2"});
  options.parsed("--profile-from-start", "on|off", into(recording.from_start, parse_switch),
                 "off: record only between fathom.start() and fathom.stop() in the program",
                 {"on", "off"});
}

void declare_hang(Options& options, RunArguments& arguments) {
  options.parsed(
      "--hang", "TIME", into(arguments.options.hang, parse_hang),
      "Look at all threads, as fathom dump does, when the program has computed nothing for this "
      "long, or when a step lasts 20 times the median and 5s (default 60s; off: never); at most 3 "
      "times, into hang-1.txt and hang-1.json of the session folder",
      {"off"});
}

void declare_limits(Options& options, RunArguments& arguments) {
  capture::Recording& recording = arguments.options.recording;
  options.group("Limits");
  options.parsed(
      "--max-memory", "SIZE", into(recording.max_memory, capture::parse_size),
      "Memory for recording per process (default 256MiB, and 2GiB for torch.profiler, whose longer "
      "traces are written in pieces); what does not fit is counted");
  options.parsed("--max-size", "SIZE", into(recording.max_size, capture::parse_size),
                 "Size of each file (default 4GiB); what does not fit is counted");
  options.parsed("--last", "TIME", into(recording.last, capture::parse_duration),
                 "Keep only the newest stretch of this length");
}

void declare_output(Options& options, RunArguments& arguments) {
  options.group("Output");
  options.text("-o,--output", "DIR", arguments.options.output,
               "The session folder, new or empty (default fathom-runs/TIME-NAME)");
  options.text("--name", "NAME", arguments.options.name,
               "What to call the run (default: from the command)");
  options.flag("--no-diagnose", arguments.no_diagnose, "Only record");
  options.parsed("--price", "MONEY", rate_into(arguments.options.price),
                 "Price of a kilowatt-hour, to turn energy into money");
  options.parsed("--carbon", "GRAMS", rate_into(arguments.options.carbon),
                 "Grams of CO2 per kilowatt-hour, to turn energy into CO2");
  options.flag("-q,--quiet", arguments.quiet, "No messages of ours but errors and the diagnosis");
}

}  // namespace

Command run() {
  Command command;
  command.name = "run";
  command.group = "Capture";
  command.title = "Capture a program, unchanged, then diagnose it";
  command.operand = "-- COMMAND…";
  command.doc =
      "Runs the command unchanged, records it into a session folder and prints its diagnosis. "
      "Standard input, output and error, the terminal, signals and the exit code are the "
      "program's: 128 + N when signal N ended it, 127 when there is no such command, 126 when it "
      "cannot be executed. Our own messages go to standard error, and so does the diagnosis when "
      "standard output is no terminal. The first Ctrl-C is the program's; a second within three "
      "seconds gives up waiting for it. docs/capture.md lists what is recorded.";
  command.examples = {"fathom run -- python train.py",
                      "fathom run --with shapes,stacks --steps wait=2,active=5 -- python train.py",
                      "fathom run -o before -- torchrun --nproc-per-node 2 train.py",
                      "fathom run --telemetry 0 -- ./my_cuda_app"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto arguments = std::make_shared<RunArguments>();
    options.rest("COMMAND", arguments->options.command);
    declare_what(options, *arguments);
    declare_when(options, *arguments);
    declare_hang(options, *arguments);
    declare_limits(options, *arguments);
    declare_output(options, *arguments);
    return [arguments] { return run_run(*arguments); };
  };
  return command;
}

}  // namespace fathom::cli
