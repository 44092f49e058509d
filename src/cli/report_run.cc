// Expands the inputs, opens each, computes, renders, writes.
#include "cli/report_run.h"

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "engine/device_peaks.h"
#include "engine/inputs.h"
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
  Writer(const Report& report, const ReportRequest& wish, bool several, Output& output)
      : report_(report),
        wish_(wish),
        several_(several),
        output_(output),
        style_(style_for(output.descriptor(), wish.colour, wish.wide)) {}

  Result<void> view(const View& view) {
    std::string text;
    if (wish_.json) {
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

  Result<void> end() {
    if (!wish_.json || !several_) return {};
    return output_.write((written_ == 0 ? json_inputs_begin(report_) : std::string()) +
                         json_inputs_end());
  }

 private:
  [[nodiscard]] std::string json(const View& view) const {
    if (!several_) return render_json(view) + "\n";
    return (written_ == 0 ? json_inputs_begin(report_) + "\n" : ",\n") + render_json(view, "    ");
  }
  /// Notes have no place in CSV and folded stacks, but must not be lost.
  void warn_of_notes(const View& view) const {
    for (const std::string& note : view.table.notes)
      say_warning(view.input + ": " + note, wish_.quiet);
  }
  [[nodiscard]] std::string csv(const View& view) const {
    warn_of_notes(view);
    return (written_ == 0 ? csv_header(view, several_) : std::string()) + csv_rows(view, several_);
  }

  const Report& report_;
  const ReportRequest& wish_;
  bool several_;
  Output& output_;
  Style style_;
  std::size_t written_ = 0;
};

Result<std::unique_ptr<Session>> open_session(const std::string& path, const ReportRequest& wish) {
  const Progress progress("reading " + (path == "-" ? "standard input" : path), wish.quiet);
  return Session::open(path, ReadOptions{.threads = wish.threads});
}

/// JSON, CSV, folded stacks and plots get every row. People get a screenful, except
/// of blocks, which are short.
Request shaped(const Report& report, const ReportRequest& wish) {
  Request request = wish.request;
  if (wish.limit) {
    if (*wish.limit != 0) request.query.limit = *wish.limit;
  } else if (!wish.json && !wish.csv && !wish.folded && !wish.svg &&
             report.columns.front().name != "section") {
    request.query.limit = kTextRows;
  }
  if (wish.svg) request.query.columns = {"all"};
  return request;
}

bool is_not_a_trace(const Error& error) {
  return error.code == ErrorCode::unsupported || error.code == ErrorCode::corrupt;
}

Result<void> check_request(const ReportRequest& wish) {
  std::vector<std::string> forms;
  if (wish.json) forms.emplace_back("--json");
  if (wish.csv) forms.emplace_back("--csv");
  if (wish.folded) forms.emplace_back("--folded");
  if (wish.svg) forms.emplace_back("--svg");
  if ((wish.folded || wish.svg) && !wish.request.query.columns.empty())
    forms.emplace_back("--columns");
  if (forms.size() > 1) {
    return Error{ErrorCode::invalid_argument,
                 forms[0] + " and " + forms[1] + " exclude each other"};
  }
  std::size_t pipes = 0;
  for (const std::string& input : wish.inputs) pipes += input == "-" ? 1 : 0;
  if (wish.svg && wish.inputs.size() > 1)
    return Error{ErrorCode::invalid_argument, "--svg draws one input"};
  if (pipes > 1)
    return Error{ErrorCode::invalid_argument, "standard input (-) can be read only once"};
  return {};
}

}  // namespace

int run_report(const Report& report, const ReportRequest& wish) {
  const Result<void> checked = check_request(wish);
  if (!checked) return fail(checked.error());
  const Result<Inputs> inputs = expand_inputs(wish.inputs);
  if (!inputs) return fail(inputs.error());
  Result<Output> output = Output::open(wish.output);
  if (!output) return fail(output.error());

  DevicePeaks peaks;
  Request request = shaped(report, wish);
  if (!wish.peaks.empty()) {
    Result<DevicePeaks> found = DevicePeaks::named(wish.peaks);
    if (!found) return fail(std::move(found).error().in("--peaks"));
    peaks = std::move(*found);
    request.options.peaks = peaks.chosen();
  }
  Writer writer(report, wish, inputs->several, *output);
  int code = kFine;
  std::size_t shown = 0;
  for (const Inputs::File& file : inputs->files) {
    Result<std::unique_ptr<Session>> session = open_session(file.path, wish);
    if (!session) {
      if (file.found && is_not_a_trace(session.error())) {
        say_warning("skipped: " + session.error().message, wish.quiet);
        continue;
      }
      code = fail(session.error());
      continue;
    }
    const Result<View> view = (*session)->run(report, request);
    if (!view) {
      code = fail(view.error());
      // What is wrong with the request is wrong for every input, unless it was answered before.
      if (shown == 0) return code;
      continue;
    }
    const Result<void> written = writer.view(*view);
    if (!written) return fail(written.error());
    if (output->closed()) return code;
    ++shown;
  }
  if (shown == 0 && code == kFine) {
    return fail({ErrorCode::not_found,
                 wish.inputs.front() + ": none of its files is a trace that Fathom can read"});
  }
  if (shown == 0) return code;
  for (const Result<void>& done : {writer.end(), output->finish()}) {
    if (!done) return fail(done.error());
  }
  return code;
}

}  // namespace fathom::cli
