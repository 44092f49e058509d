// fathom compare: what changed between two recordings or more, where, and why.
#include <memory>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/compared_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "compare/ladder.h"
#include "compare/sides.h"
#include "render/compare_json.h"
#include "render/compare_svg.h"
#include "render/compare_text.h"
#include "render/ladder_text.h"

namespace fathom::cli {
namespace {

struct CompareArguments {
  InputArguments read;
  std::vector<std::string> base;
  std::vector<std::string> now;
  std::string target_text;
  std::optional<Target> target;
  bool within_runs = false;  ///< Of the target.
  Request request;
  OutputArguments output;
  std::string svg;
  bool all = false;
  bool markdown = false;
};

Error usage(const std::string& message) {
  return {ErrorCode::invalid_argument, "compare: " + message};
}

Result<void> write(const CompareArguments& args, const ComparedSides& sides, ResultWriter& writer) {
  if (args.output.json)
    return writer.json(
        [&](std::string_view indent) { return render_compare_json(sides, args.target, indent); });
  return writer.text(args.markdown
                         ? render_compare_markdown(sides, args.target, args.all)
                         : render_compare_text(sides, args.target, args.all, writer.style()));
}

Result<void> write(const CompareArguments& args, const Ladder& ladder, ResultWriter& writer) {
  if (args.output.json)
    return writer.json([&](std::string_view indent) { return render_ladder_json(ladder, indent); });
  return writer.text(args.markdown ? render_ladder_markdown(ladder)
                                   : render_ladder_text(ladder, writer.style()));
}

template <typename Compared>
int show(const CompareArguments& args, const Compared& compared) {
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = write(args, compared, writer);
    return written ? kFine : fail(written.error());
  });
}

/// Is anything in the way of what is asked? Reads the target.
Result<void> check(CompareArguments& args) {
  const std::vector<std::string>& inputs = args.read.inputs;
  const bool named = !args.base.empty() || !args.now.empty();
  if (named && (!inputs.empty() || args.base.empty() || args.now.empty()))
    return usage("give both --base and --new, and nothing beside them");
  if (!named && inputs.size() < 2)
    return usage("takes two inputs, BASE and NEW, or more; got " + std::to_string(inputs.size()));
  if (args.output.json && args.markdown) return usage("--json or --markdown, not both");
  if (inputs.size() > 2 && !args.svg.empty()) return usage("--svg draws two recordings, not more");
  if (args.within_runs && args.target_text.empty()) return usage("--within-runs is of --target");
  if (args.target_text.empty()) return {};
  Result<Target> target = parse_target(args.target_text);
  if (!target) return std::move(target).error().in("compare: --target");
  args.target = std::move(*target);
  args.target->within_runs = args.within_runs;
  return {};
}

int compare_two(const CompareArguments& args, const Runs& base, const Runs& now) {
  const Result<ComparedSides> sides = compare_runs(base, now);
  if (!sides) return fail(sides.error());
  const int shown = show(args, *sides);
  if (args.svg.empty()) return shown;
  const Result<void> drawn =
      write_file(args.svg, "compare: --svg", render_compare_svg(sides->pairs[sides->shown]));
  return drawn ? shown : fail(drawn.error());
}

int run_compare(CompareArguments& args) {
  const ThreadPool pool(args.read.threads);
  const Result<void> asked = check(args);
  if (!asked) return fail(asked.error());
  std::vector<std::vector<std::string>> variants = {args.base, args.now};
  if (args.base.empty()) variants.clear();
  for (const std::string& input : args.read.inputs) variants.push_back({input});
  std::vector<Runs> sides;
  for (const std::vector<std::string>& inputs : variants) {
    int code = kFine;
    std::optional<Runs> side = side_behind(args.read, args.request, inputs, code);
    if (!side) return code;
    sides.push_back(std::move(*side));
  }
  if (sides.size() == 2) return compare_two(args, sides[0], sides[1]);
  const Result<Ladder> ladder = ladder_of(sides, args.target);
  return ladder ? show(args, *ladder) : fail(ladder.error());
}

}  // namespace

Command compare() {
  Command command;
  command.name = "compare";
  command.group = "Diagnosis";
  command.title = "What changed between two recordings, where, and why?";
  command.operand = "BASE NEW…";
  command.doc =
      "A differential profile. The change of the step time is divided among the buckets of the "
      "accounting, then among phases, modules, operators (self time) and kernels (time that is "
      "credited to one alone), so that every level sums exactly; each row has one cause of a "
      "closed list. What differs in the conditions is named first. More than two recordings are a "
      "ladder: each beside the one before and beside the first. An input is a recording, a session "
      "folder, a folder with the ranks of one program, which are compared rank by rank, a result "
      "of fathom bench, or a baseline. One recording a side shows how steps vary within a run, not "
      "how runs vary; that takes several runs a side: a folder of recordings, or --base and "
      "--new. docs/compare.md has the rules.";
  command.examples = {
      "fathom compare before.json.gz after.json.gz",
      "fathom compare --all runs/base runs/new",
      "fathom compare --base a1.json a2.json --new b1.json b2.json",
      "fathom compare --target 30% --within-runs base.json change1.json change2.json",
      "fathom compare --svg change.svg base.json new.json",
      "fathom compare --markdown base.json new.json >> $GITHUB_STEP_SUMMARY",
      "fathom compare --json base.json new.json | jq '.pairs[0].causes[0]'"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<CompareArguments>();
    options.operands("BASE NEW…", args->read.inputs, 0);
    options.words("--base", "RUN…", args->base, "Instead of BASE: recordings of several runs");
    options.words("--new", "RUN…", args->now,
                  "Instead of NEW: the same; runs that took turns are paired");
    options.text("--target", "TARGET", args->target_text,
                 "How far is it to this? 30%: so much less step time than the first; 25ms: a step "
                 "time");
    options.flag("--within-runs", args->within_runs,
                 "Judge the target by one run a side, too, and by runs that took no turns: true of "
                 "these runs, not of how runs of the program differ");
    declare_selection(options, args->request.steps, args->request.device, args->request.window);
    options.group("Output");
    options.flag("--all", args->all,
                 "Every phase, module, row and kernel, of every rank, however long");
    options.flag("--json", args->output.json,
                 "JSON, schema fathom.compare/1; of more than two fathom.ladder/1");
    options.flag("--markdown", args->markdown, "Markdown, for a review or a step summary");
    options.text("--svg", "FILE", args->svg,
                 "Also a differential flame graph: both steps in one scale");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run_compare(*args); };
  };
  return command;
}

}  // namespace fathom::cli
