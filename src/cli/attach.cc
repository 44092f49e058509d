// fathom attach: profiles or samples a running program for a moment, then diagnoses it.
#include "record/attach.h"

#include <memory>
#include <utility>

#include "capture/launcher/amounts.h"
#include "capture/launcher/recording.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/run_show.h"
#include "cli/selection_options.h"
#include "cli/version.h"

namespace fathom::cli {
namespace {

/// Everything on the command line.
struct AttachArguments {
  record::AttachOptions options;
  std::vector<std::string> pids;
  bool no_diagnose = false;
  bool quiet = false;
};

int run_attach(AttachArguments& arguments) {
  if (arguments.options.rate.value_or(1) > 10000) {
    return fail(
        {.code = ErrorCode::invalid_argument, .message = "attach: --rate is at most 10000"});
  }
  Result<std::vector<pid_t>> pids = parse_pids(arguments.pids);
  if (!pids) return fail(std::move(pids).error().in("attach"));
  arguments.options.pids = std::move(*pids);
  arguments.options.version = version();
  const Result<record::AttachOutcome> outcome =
      record::record_attached(arguments.options, recording_messages(arguments.quiet));
  if (!outcome) return fail(outcome.error());
  return arguments.no_diagnose ? kFine : diagnose_folder((*outcome).folder, arguments.quiet);
}

}  // namespace

Command attach() {
  Command command;
  command.name = "attach";
  command.group = "Capture";
  command.title = "Capture a running program for a moment, then diagnose it";
  command.operand = "PID…";
  command.doc =
      "Profiles a program that was started with KINETO_USE_DAEMON=1 in its environment: PyTorch "
      "then asks a local daemon every few seconds whether to record, by the protocol of dynolog. "
      "This command is that daemon for as long as it takes: it hands out orders to the processes "
      "and to those below them, waits for their traces, gathers them in one session folder and "
      "prints the diagnosis. Of a launcher (torchrun) its ranks are recorded. Several processes "
      "begin at the same moment. A program that was started without it, in PyTorch or not, is "
      "sampled from outside with the processes below it, as fathom sample does: what its threads "
      "compute and wait for, in which function and line.";
  command.examples = {"fathom attach 12345 --duration 5s", "fathom attach 12345 12346",
                      "fathom attach $(pgrep -o torchrun) --with shapes",
                      "fathom attach 12345 --rate 250"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto arguments = std::make_shared<AttachArguments>();
    options.operands("PID", arguments->pids, 1);
    options.parsed("--duration", "TIME", into(arguments->options.duration, capture::parse_duration),
                   "How long to record (default 5s)");
    options.parsed(
        "--with", "LIST", into(arguments->options.with, capture::parse_torch_extras),
        "Of PyTorch, also record these, separated by commas: shapes, stacks, memory, flops",
        {capture::kTorchExtras.begin(), capture::kTorchExtras.end()});
    options.parsed("--rate", "RATE", number_into<int>(arguments->options.rate, 1),
                   "How often a second threads are sampled, where PyTorch cannot be asked; at most "
                   "10000 (default 100)");
    options.parsed("--timeout", "TIME", into(arguments->options.timeout, capture::parse_duration),
                   "How long to wait until the program asks (default 30s)");
    options.group("Output");
    options.text("-o,--output", "DIR", arguments->options.output,
                 "The session folder, new or empty (default fathom-runs/TIME-NAME)");
    options.text("--name", "NAME", arguments->options.name,
                 "What to call the run (default: from the command)");
    options.flag("--no-diagnose", arguments->no_diagnose, "Only record");
    options.flag("-q,--quiet", arguments->quiet,
                 "No messages of ours but errors and the diagnosis");
    return [arguments] { return run_attach(*arguments); };
  };
  return command;
}

}  // namespace fathom::cli
