// fathom compare: what changed between two recordings, where, and why.
#include <memory>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/compared_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "compare/sides.h"
#include "render/compare_json.h"
#include "render/compare_text.h"

namespace fathom::cli {
namespace {

struct Arguments {
  InputArguments read;
  Request request;
  OutputArguments output;
  bool all = false;
  bool markdown = false;
};

Result<void> write(const Arguments& args, const ComparedSides& sides, ResultWriter& writer) {
  if (args.output.json)
    return writer.json([&](std::string_view indent) { return render_compare_json(sides, indent); });
  return writer.text(args.markdown ? render_compare_markdown(sides, args.all)
                                   : render_compare_text(sides, args.all, writer.style()));
}

int run(const Arguments& args) {
  const ThreadPool pool(args.read.threads);
  if (args.read.inputs.size() != 2)
    return fail({ErrorCode::invalid_argument, "compare: takes two inputs, BASE and NEW; got " +
                                                  std::to_string(args.read.inputs.size())});
  if (args.output.json && args.markdown)
    return fail({ErrorCode::invalid_argument, "compare: --json or --markdown, not both"});
  int code = kFine;
  const auto base = profiles_of(args.read, args.request, args.read.inputs[0], code);
  if (!base) return code;
  const auto now = profiles_of(args.read, args.request, args.read.inputs[1], code);
  if (!now) return code;
  const Result<ComparedSides> sides = compare_sides(*base, *now);
  if (!sides) return fail(sides.error());
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = write(args, *sides, writer);
    return written ? kFine : fail(written.error());
  });
}

}  // namespace

Command compare() {
  Command command;
  command.name = "compare";
  command.group = "Diagnosis";
  command.title = "What changed between two recordings, where, and why?";
  command.operand = "BASE NEW";
  command.doc =
      "A differential profile. The change of the step time is divided among the buckets of the "
      "accounting, then among operators (self time) and kernels (time that is credited to one "
      "alone), so that every level sums exactly; each row has one cause of a closed list. What "
      "differs in the conditions is named first. An input is a recording, a session folder, or "
      "a folder with the ranks of one program, which are compared rank by rank. One recording a "
      "side shows how steps vary within a run, not how runs vary. docs/compare.md has the rules.";
  command.examples = {"fathom compare before.json.gz after.json.gz",
                      "fathom compare --all runs/base runs/new",
                      "fathom compare --markdown base.json new.json >> $GITHUB_STEP_SUMMARY",
                      "fathom compare --json base.json new.json | jq '.pairs[0].causes[0]'"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<Arguments>();
    options.operands("BASE NEW", args->read.inputs, 2);
    declare_selection(options, args->request.steps, args->request.device, args->request.window);
    options.group("Output");
    options.flag("--all", args->all, "Every row with its kernels, of every rank, however long");
    options.flag("--json", args->output.json, "JSON, schema fathom.compare/1");
    options.flag("--markdown", args->markdown, "Markdown, for a review or a step summary");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run(*args); };
  };
  return command;
}

}  // namespace fathom::cli
