// fathom whatif: the step time after a change, by replaying the recording with the change in it.
#include <memory>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "engine/device_peaks.h"
#include "engine/whatif/what_if.h"
#include "render/what_if_json.h"
#include "render/what_if_text.h"

namespace fathom::cli {
namespace {

struct WhatifArguments {
  InputArguments read;
  WhatIfRequest request;
  OutputArguments output;
  std::string peaks;  ///< A device's name or a file of devices; empty: the recorded one's.
};

Result<void> write(const WhatifArguments& args, const Session& session, ResultWriter& writer) {
  const Result<WhatIf> result = what_if(session, args.request);
  if (!result) return result.error();
  if (!args.output.json) return writer.text(render_what_if_text(*result, writer.style()));
  return writer.json([&](std::string_view indent) { return render_what_if_json(*result, indent); });
}

int run_whatif(WhatifArguments& args) {
  const ThreadPool pool(args.read.threads);
  if (args.request.empty()) {
    return fail({ErrorCode::invalid_argument,
                 "whatif: name a change, for example --scale 'aten::mm=0.5' or --remove-syncs"});
  }
  const Result<DevicePeaks> peaks = DevicePeaks::asked(args.peaks);
  if (!peaks) return fail(Error(peaks.error()).in("--peaks"));
  args.request.peaks = peaks->chosen();
  return write_each(args.read, args.output, {}, [&](const Session& session, ResultWriter& writer) {
    return write(args, session, writer);
  });
}

void declare_changes(Options& options, WhatifArguments& args) {
  WhatIfRequest& request = args.request;
  options.group("Changes");
  options.list("--scale", "TARGET=FACTOR", request.scale,
               "Time of an operator, annotation or call with all that it launches; of op:REGEX, "
               "host:REGEX, kernel:REGEX or phase:NAME");
  options.list(
      "--roof", "REGEX=FRACTION", request.roof,
      "Kernels and operators of these names reach that fraction of what the device could do");
  options.list("--fuse", "REGEX", request.fuse,
               "Neighbouring kernels of these names become one kernel");
  options.list("--finding", "ID", request.findings,
               "What a finding of fathom diagnose proposes, by its id; by itself it gives the step "
               "time that is predicted there");
  options.flag("--remove-syncs", request.remove_syncs, "No call waits for the device");
  options.flag("--overlap-input", request.overlap_input, "Data is loaded ahead, by other threads");
  options.flag("--launch-once", request.launch_once, "Launches are captured into graphs");
  options.flag("--pin-copies", request.pin_copies, "Copies use pinned memory and do not block");
  options.flag("--hide-communication", request.hide_communication,
               "Communication runs beside computation");
  options.text("--peaks", "NAME|FILE", args.peaks,
               "Peaks for --roof: a device's name, or a file of devices");
}

}  // namespace

Command whatif() {
  Command command;
  command.name = "whatif";
  command.group = "Diagnosis";
  command.title = "What would a change save?";
  command.operand = "INPUT…";
  command.doc =
      "Replays the recording as a graph of dependencies with the changes in it, all together, and "
      "prints the old and the new step time and what bounds the step then. The new time is an "
      "interval: what the changes give at best, and at worst under the assumptions that are "
      "printed. docs/replay.md has the rules.";
  command.examples = {"fathom whatif --scale 'aten::mm=0.5' trace.json.gz",
                      "fathom whatif --remove-syncs --overlap-input trace.json.gz",
                      "fathom whatif --fuse elementwise --json trace.json.gz"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<WhatifArguments>();
    options.operands("INPUT", args->read.inputs, 1);
    declare_changes(options, *args);
    declare_time_selection(options, args->request.steps, args->request.window);
    options.group("Output");
    options.flag("--json", args->output.json, "JSON, schema fathom.whatif/1");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run_whatif(*args); };
  };
  return command;
}

}  // namespace fathom::cli
