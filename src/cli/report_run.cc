// Expands the inputs, opens each, computes, renders, writes.
#include "cli/report_run.h"

#include "base/thread_pool.h"
#include "cli/messages.h"
#include "cli/result_writer.h"
#include "render/csv.h"
#include "render/flame_svg.h"
#include "render/folded.h"
#include "render/json.h"
#include "render/roofline_svg.h"
#include "render/text.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// Notes have no place in CSV, folded stacks and flame graphs, but must not be lost.
void warn_of_notes(const ReportRequest& args, const View& view) {
  for (const std::string& note : view.notes) say_warning(view.input + ": " + note, args.read.quiet);
}

/// In the form that was asked for.
Result<void> write(const ReportRequest& args, const View& view, ResultWriter& writer) {
  if (args.output.json) {
    return writer.json([&](std::string_view indent) { return render_json(view, indent); });
  }
  if (args.svg && has_roofline(*view.report)) return writer.raw(render_roofline_svg(view));
  if (!args.csv && !args.folded && !args.svg) return writer.text(render_text(view, writer.style()));
  warn_of_notes(args, view);
  const bool several = writer.several();
  if (args.svg) return writer.raw(render_flame_svg(view));
  if (args.folded) return writer.raw(render_folded(view, several));
  return writer.raw((writer.first() ? csv_header(view, several) : std::string()) +
                    csv_rows(view, several));
}

/// JSON, CSV, folded stacks and plots get every row. People get a screenful, except of blocks,
/// which are short.
Request shaped(const Report& report, const ReportRequest& args) {
  Request request = args.request;
  if (args.limit) {
    if (*args.limit != 0) request.query.limit = *args.limit;
  } else if (!args.output.json && !args.csv && !args.folded && !args.svg &&
             report.columns.front().name != "section") {
    request.query.limit = kTextRows;
  }
  if (args.svg) request.query.columns = {"all"};
  return request;
}

Result<void> check_request(const ReportRequest& args) {
  std::vector<std::string> forms;
  if (args.output.json) forms.emplace_back("--json");
  if (args.csv) forms.emplace_back("--csv");
  if (args.folded) forms.emplace_back("--folded");
  if (args.svg) forms.emplace_back("--svg");
  if ((args.folded || args.svg) && !args.request.query.columns.empty())
    forms.emplace_back("--columns");
  if (forms.size() > 1) {
    return Error{ErrorCode::invalid_argument,
                 forms[0] + " and " + forms[1] + " exclude each other"};
  }
  return {};
}

}  // namespace

int run_report(const Report& report, const ReportRequest& args) {
  const ThreadPool pool(args.read.threads);
  const Result<void> checked = check_request(args);
  if (!checked) return fail(checked.error());
  OptionTexts own = args.own;
  for (const auto& [name, given] : args.flags) {
    if (given) own[name] = "true";
  }
  Result<OptionValues> options = parse_options(report, own);
  if (!options) return fail(options.error());
  Request request = shaped(report, args);
  request.own = *std::move(options);
  const JsonFrame frame{
      .begin = json_inputs_begin(report), .end = json_inputs_end(), .indent = "    "};
  return write_each(
      args.read, args.output, frame,
      [&](const Session& session, ResultWriter& writer) -> Result<void> {
        if (writer.several() && args.svg) {
          return Error{ErrorCode::invalid_argument, "--svg draws one input at a time"};
        }
        const Result<View> view = session.run(report, request);
        return view ? write(args, *view, writer) : Result<void>(view.error());
      });
}

}  // namespace fathom::cli
