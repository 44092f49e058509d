// Expands the inputs, opens each, computes, renders, writes.
#include "cli/report_run.h"

#include "cli/messages.h"
#include "cli/output.h"
#include "engine/device_peaks.h"
#include "render/csv.h"
#include "render/folded.h"
#include "render/json.h"
#include "render/roofline_svg.h"
#include "render/text.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// Writes views one after the other in the chosen form.
class Writer {
 public:
  Writer(const Report& report, const ReportRequest& wish, Output& output)
      : report_(report),
        wish_(wish),
        output_(output),
        style_(style_for(output.descriptor(), wish.output.colour, wish.output.wide)) {}

  Result<void> view(const View& view, bool several) {
    several_ = several;
    std::string text;
    if (wish_.output.json) {
      text = json(view);
    } else if (wish_.csv) {
      text = csv(view);
    } else if (wish_.folded) {
      warn_of_notes(view);
      text = render_folded(view, several_);
    } else if (wish_.svg) {
      text = render_roofline_svg(view);
    } else {
      if (written_ != 0) text = "\n";
      text += render_text(view, style_);
    }
    ++written_;
    return output_.write(text);
  }

  /// Nothing was shown: nothing is left to close.
  Result<void> end() {
    if (written_ == 0) return {};
    if (wish_.output.json && several_) {
      Result<void> closed = output_.write(json_inputs_end());
      if (!closed) return closed;
    }
    return output_.finish();
  }

 private:
  [[nodiscard]] std::string json(const View& view) const {
    if (!several_) return render_json(view) + "\n";
    return (written_ == 0 ? json_inputs_begin(report_) + "\n" : ",\n") + render_json(view, "    ");
  }
  /// Notes have no place in CSV and folded stacks, but must not be lost.
  void warn_of_notes(const View& view) const {
    for (const std::string& note : view.table.notes)
      say_warning(view.input + ": " + note, wish_.read.quiet);
  }
  [[nodiscard]] std::string csv(const View& view) const {
    warn_of_notes(view);
    return (written_ == 0 ? csv_header(view, several_) : std::string()) + csv_rows(view, several_);
  }

  const Report& report_;
  const ReportRequest& wish_;
  Output& output_;
  Style style_;
  bool several_ = false;
  std::size_t written_ = 0;
};

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
  const Result<void> checked = check_request(wish);
  if (!checked) return fail(checked.error());
  const Result<Inputs> inputs = inputs_of(wish.read);  // before a file is opened for the output
  if (!inputs) return fail(inputs.error());
  DevicePeaks peaks;
  Request request = shaped(report, wish);
  if (!wish.peaks.empty()) {
    Result<DevicePeaks> found = DevicePeaks::named(wish.peaks);
    if (!found) return fail(std::move(found).error().in("--peaks"));
    peaks = std::move(*found);
    request.options.peaks = peaks.chosen();
  }
  Result<Output> output = Output::open(wish.output.path);
  if (!output) return fail(output.error());
  Writer writer(report, wish, *output);
  const int code = for_each_session(
      *inputs, wish.read, [&](const Session& session, bool several) -> Result<Use> {
        if (several && wish.svg)
          return Error{ErrorCode::invalid_argument, "--svg draws one input at a time"};
        const Result<View> view = session.run(report, request);
        if (!view) return view.error();
        const Result<void> written = writer.view(*view, several);
        if (!written) return written.error();
        return output->closed() ? Use::stop : Use::next;
      });
  const Result<void> ended = writer.end();
  return ended ? code : fail(ended.error());
}

}  // namespace fathom::cli
