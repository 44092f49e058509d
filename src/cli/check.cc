// fathom check: do recordings keep budgets? For CI: the exit code is the answer.
#include "compare/check.h"

#include <memory>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/compared_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "compare/baseline.h"
#include "render/check_json.h"
#include "render/check_junit.h"
#include "render/check_text.h"

namespace fathom::cli {
namespace {

struct CheckArguments {
  InputArguments read;
  Request request;
  OutputArguments output;
  bool within_runs = false;
  std::vector<std::string> against;
  std::vector<std::string> budgets;
  Undecided undecided = Undecided::open;
  bool markdown = false;
  std::string junit;
};

Error usage(const std::string& message) {
  return {ErrorCode::invalid_argument, "check: " + message};
}

Result<void> write(const CheckArguments& args, const CheckedRuns& checked, ResultWriter& writer) {
  if (args.output.json)
    return writer.json([&](std::string_view indent) { return render_check_json(checked, indent); });
  return writer.text(args.markdown ? render_check_markdown(checked)
                                   : render_check_text(checked, writer.style()));
}

int answer(Judgement judgement, Undecided undecided) {
  if (judgement == Judgement::within) return kFine;
  if (judgement == Judgement::over || undecided == Undecided::fail) return kCheckFailed;
  return undecided == Undecided::pass ? kFine : kCannotTell;
}

Result<std::vector<Budget>> budgets_of(const CheckArguments& args) {
  if (args.against.empty()) return usage("--against names what to check against");
  if (args.budgets.empty()) return usage("it needs a --budget, such as step_time+3%");
  if (args.output.json && args.markdown) return usage("--json or --markdown, not both");
  std::vector<Budget> budgets;
  for (const std::string& text : args.budgets) {
    Result<Budget> budget = parse_budget(text);
    if (!budget) return std::move(budget).error().in("check: --budget");
    budgets.push_back(std::move(*budget));
  }
  return budgets;
}

/// A baseline is two references, where what was accepted is another than what was saved last.
/// Empty where something cannot be read, which is then said.
std::vector<CheckReference> references_of(const CheckArguments& args, int& code) {
  std::vector<CheckReference> references;
  HeldFiles held;
  InputArguments looked_at = args.read;
  looked_at.held = &held;
  const Result<std::optional<SavedBaseline>> baseline = baseline_in(args.against.front(), held);
  if (!baseline) {
    code = fail(baseline.error());
    return references;
  }
  if (*baseline && args.against.size() > 1) {
    code = fail(usage("a baseline is checked against alone: it holds all its runs"));
  } else if (*baseline) {
    const SavedBaseline& saved = **baseline;
    if (!version_note(saved).empty())
      say_warning(args.against.front() + ": " + version_note(saved), args.read.quiet);
    references.push_back({.name = "last", .when = saved.last.saved, .runs = saved.last.runs});
    if (saved.accepted)
      references.push_back(
          {.name = "accepted", .when = saved.accepted->saved, .runs = saved.accepted->runs});
  } else if (std::optional<Runs> runs = runs_behind(looked_at, args.request, args.against, code)) {
    references.push_back({.name = "base", .when = {}, .runs = std::move(*runs)});
  }
  return references;
}

int run_check(const CheckArguments& args) {
  const ThreadPool pool(args.read.threads);
  const Result<std::vector<Budget>> budgets = budgets_of(args);
  if (!budgets) return fail(budgets.error());
  int code = kFine;
  const std::vector<CheckReference> references = references_of(args, code);
  if (references.empty()) return code;
  const std::optional<Runs> now = runs_behind(args.read, args.request, args.read.inputs, code);
  if (!now) return code;
  const CheckedRuns checked = check_runs(
      references, *now, *budgets, args.within_runs ? Claims::within_runs : Claims::over_runs);
  const int shown = write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = write(args, checked, writer);
    return written ? answer(checked.judgement(), args.undecided) : fail(written.error());
  });
  if (args.junit.empty()) return shown;
  const Result<void> written =
      write_file(args.junit, "check: --junit", render_check_junit(checked, args.undecided));
  return written ? shown : fail(written.error());
}

Options::Parse undecided_into(Undecided& undecided) {
  return [&undecided](const std::string& text) -> Result<void> {
    if (text != "pass" && text != "fail")
      return Error{ErrorCode::invalid_argument, "'" + text + "' is neither pass nor fail"};
    undecided = text == "pass" ? Undecided::pass : Undecided::fail;
    return {};
  };
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const BudgetMetric& metric : budget_metrics()) names.emplace_back(metric.id);
  return names;
}

std::string budget_doc() {
  std::string doc =
      "What may not be exceeded; may be given several times. METRIC+3%, METRIC+0, "
      "METRIC+2ms beside the base, METRIC-5% for an improvement; METRIC<20GiB, <=, >, "
      ">=, = beside nothing. Metrics, per step:";
  for (const std::string& name : metric_names())
    doc += (name == metric_names().front() ? " " : ", ") + name;
  return doc;
}

}  // namespace

Command check() {
  Command command;
  command.name = "check";
  command.group = "Diagnosis";
  command.title = "Does a change keep its budgets? For CI";
  command.operand = "NEW…";
  command.doc =
      "Checks recordings against budgets beside those of before a change. Counts are compared "
      "exactly; a time by its 95 % interval, so that noise neither fails nor passes a check. The "
      "exit code is 0 where every budget is certainly kept, 1 where one is certainly exceeded, 4 "
      "where that is unknown. A time takes 6 pairs of runs, recorded in turns and in random "
      "order, "
      "which their times must show: one run a side does not show how runs vary, and all of BASE "
      "before all of NEW does not show what the machine did meanwhile. Such runs decide only with "
      "--within-runs. "
      "docs/check.md has the rules.";
  command.examples = {
      "fathom check new.json.gz --against base.json.gz --budget step_time+3% --budget launches+0",
      "fathom check new/ --against base/ --budget step_time+3% --budget 'peak_memory<20GiB'",
      "fathom check new/ --against base/ --budget step_time+3% --markdown >> $GITHUB_STEP_SUMMARY"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<CheckArguments>();
    options.operands("NEW", args->read.inputs, 1);
    options.list("--against", "BASE", args->against,
                 "What to check against: a recording, a session folder, a folder of either, or a "
                 "file of fathom baseline; may be given several times, once for each run");
    options.list("--budget", "BUDGET", args->budgets, budget_doc(), metric_names());
    options.parsed("--undecided", "pass|fail", undecided_into(args->undecided),
                   "Exit with 0 or 1, instead of 4, where the result is unknown", {"pass", "fail"});
    options.flag(
        "--within-runs", args->within_runs,
        "Decide about times by one run a side, too, and by runs that took no turns: true of "
        "these runs, not of how runs of the program differ");
    declare_selection(options, args->request.steps, args->request.device, args->request.window);
    options.group("Output");
    options.flag("--json", args->output.json, "JSON, schema fathom.check/1");
    options.flag("--markdown", args->markdown, "Markdown, for a review or a step summary");
    options.text("--junit", "FILE", args->junit,
                 "Also write JUnit's XML: a test case for each budget");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run_check(*args); };
  };
  return command;
}

}  // namespace fathom::cli
