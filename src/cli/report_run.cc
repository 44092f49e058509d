// Expands the inputs, opens each, computes, renders, writes.
#include "cli/report_run.h"

#include "base/thread_pool.h"
#include "cli/messages.h"
#include "cli/result_writer.h"
#include "render/csv.h"
#include "render/folded.h"
#include "render/json.h"
#include "render/roofline_svg.h"
#include "render/text.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// Notes have no place in CSV and folded stacks, but must not be lost.
void warn_of_notes(const ReportRequest& wish, const View& view) {
  for (const std::string& note : view.notes) say_warning(view.input + ": " + note, wish.read.quiet);
}

/// In the form that was asked for.
Result<void> write(const ReportRequest& wish, const View& view, ResultWriter& writer) {
  if (wish.output.json) {
    return writer.json([&](std::string_view indent) { return render_json(view, indent); });
  }
  if (wish.svg) return writer.raw(render_roofline_svg(view));
  if (!wish.csv && !wish.folded) return writer.text(render_text(view, writer.style()));
  warn_of_notes(wish, view);
  const bool several = writer.several();
  if (wish.folded) return writer.raw(render_folded(view, several));
  return writer.raw((writer.first() ? csv_header(view, several) : std::string()) +
                    csv_rows(view, several));
}

/// JSON, CSV, folded stacks and plots get every row. People get a screenful, except of blocks,
/// which are short.
Request shaped(const Report& report, const ReportRequest& wish) {
  Request request = wish.request;
  if (wish.limit) {
    if (*wish.limit != 0) request.query.limit = *wish.limit;
  } else if (!wish.output.json && !wish.csv && !wish.folded && !wish.svg &&
             report.columns.front().name != "section") {
    request.query.limit = kTextRows;
  }
  if (wish.svg) request.query.columns = {"all"};
  return request;
}

Result<void> check_request(const ReportRequest& wish) {
  std::vector<std::string> forms;
  if (wish.output.json) forms.emplace_back("--json");
  if (wish.csv) forms.emplace_back("--csv");
  if (wish.folded) forms.emplace_back("--folded");
  if (wish.svg) forms.emplace_back("--svg");
  if ((wish.folded || wish.svg) && !wish.request.query.columns.empty())
    forms.emplace_back("--columns");
  if (forms.size() > 1) {
    return Error{ErrorCode::invalid_argument,
                 forms[0] + " and " + forms[1] + " exclude each other"};
  }
  return {};
}

}  // namespace

int run_report(const Report& report, const ReportRequest& wish) {
  const ThreadPool pool(wish.read.threads);
  const Result<void> checked = check_request(wish);
  if (!checked) return fail(checked.error());
  OptionTexts own = wish.own;
  for (const auto& [name, given] : wish.flags) {
    if (given) own[name] = "true";
  }
  Result<OptionValues> options = parse_options(report, own);
  if (!options) return fail(options.error());
  Request request = shaped(report, wish);
  request.own = *std::move(options);
  const JsonFrame frame{
      .begin = json_inputs_begin(report), .end = json_inputs_end(), .indent = "    "};
  return write_each(
      wish.read, wish.output, frame,
      [&](const Session& session, ResultWriter& writer) -> Result<void> {
        if (writer.several() && wish.svg) {
          return Error{ErrorCode::invalid_argument, "--svg draws one input at a time"};
        }
        const Result<View> view = session.run(report, request);
        return view ? write(wish, *view, writer) : Result<void>(view.error());
      });
}

}  // namespace fathom::cli
