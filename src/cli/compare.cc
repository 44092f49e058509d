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
  std::vector<std::string> base;
  std::vector<std::string> now;
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

/// BASE and NEW, or what --base and --new name.
Result<void> name_sides(Arguments& args) {
  const std::vector<std::string>& inputs = args.read.inputs;
  const bool named = !args.base.empty() || !args.now.empty();
  if (named && (!inputs.empty() || args.base.empty() || args.now.empty()))
    return Error{ErrorCode::invalid_argument,
                 "compare: give both --base and --new, and nothing beside them"};
  if (!named && inputs.size() != 2)
    return Error{ErrorCode::invalid_argument,
                 "compare: takes two inputs, BASE and NEW; got " + std::to_string(inputs.size())};
  if (!named) {
    args.base = {inputs[0]};
    args.now = {inputs[1]};
  }
  if (args.output.json && args.markdown)
    return Error{ErrorCode::invalid_argument, "compare: --json or --markdown, not both"};
  return {};
}

int run(Arguments& args) {
  const ThreadPool pool(args.read.threads);
  const Result<void> asked = name_sides(args);
  if (!asked) return fail(asked.error());
  int code = kFine;
  const std::optional<Runs> base = runs_behind(args.read, args.request, args.base, code);
  if (!base) return code;
  const std::optional<Runs> now = runs_behind(args.read, args.request, args.now, code);
  if (!now) return code;
  const Result<ComparedSides> sides = compare_runs(*base, *now);
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
      "side shows how steps vary within a run, not how runs vary; that takes several runs a side: "
      "a folder of recordings, or --base and --new several times. docs/compare.md has the rules.";
  command.examples = {"fathom compare before.json.gz after.json.gz",
                      "fathom compare --all runs/base runs/new",
                      "fathom compare --base a1.json --base a2.json --new b1.json --new b2.json",
                      "fathom compare --markdown base.json new.json >> $GITHUB_STEP_SUMMARY",
                      "fathom compare --json base.json new.json | jq '.pairs[0].causes[0]'"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<Arguments>();
    options.operands("BASE NEW", args->read.inputs, 0);
    options.list("--base", "RUN", args->base,
                 "Instead of BASE: a recording of one of several runs; may be given several times");
    options.list("--new", "RUN", args->now,
                 "Instead of NEW: the same; runs are paired in their order");
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
