// fathom diagnose: why is this slow, what to change, what will it give?
#include <memory>

#include "cli/command.h"
#include "cli/each_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/selection_options.h"
#include "engine/device_peaks.h"
#include "engine/diagnosis.h"
#include "engine/page.h"
#include "render/diagnosis_html.h"
#include "render/diagnosis_json.h"
#include "render/diagnosis_text.h"

namespace fathom::cli {
namespace {

struct Wish {
  ReadWish read;
  DiagnosisRequest request;
  OutputWish output;
  bool all = false;
  std::string html;
  std::string peaks;  ///< A device's name or a file of devices; empty: the recorded one's.
};

/// Writes one diagnosis after the other.
class Writer {
 public:
  Writer(const Wish& wish, Output& output)
      : wish_(wish),
        output_(output),
        style_(style_for(output.descriptor(), wish.output.colour, wish.output.wide)) {}

  Result<Use> add(const Session& session, bool several) {
    if (several && !wish_.html.empty()) {
      return Error{ErrorCode::invalid_argument, "--html takes one input at a time"};
    }
    Result<Diagnosis> diagnosis = diagnose(session, wish_.request);
    if (!diagnosis) return std::move(diagnosis).error();
    const Result<void> written = output_.write(text_of(*diagnosis, several));
    if (!written) return written.error();
    ++written_;
    if (!wish_.html.empty()) {
      const Result<void> page = write_page(session, *diagnosis);
      if (!page) return page.error();
    }
    return output_.closed() ? Use::stop : Use::next;
  }
  Result<void> end() {
    if (written_ == 0) return {};
    if (several_ && wish_.output.json) {
      Result<void> closed = output_.write("\n]\n");
      if (!closed) return closed;
    }
    return output_.finish();
  }

 private:
  Result<void> write_page(const Session& session, const Diagnosis& diagnosis) const {
    const Result<Page> page = collect_page(session, wish_.request, diagnosis);
    if (!page) return page.error();
    Result<Output> file = Output::open(wish_.html);
    if (!file) return std::move(file).error();
    Result<void> written = file->write(render_diagnosis_html(diagnosis, *page));
    if (!written) return written;
    return file->finish();
  }

  [[nodiscard]] std::string text_of(const Diagnosis& diagnosis, bool several) {
    several_ = several;
    if (wish_.output.json) {
      if (!several) return render_diagnosis_json(diagnosis) + "\n";
      return (written_ == 0 ? "[\n" : ",\n") + render_diagnosis_json(diagnosis, "  ");
    }
    return (written_ == 0 ? "" : "\n") +
           render_diagnosis_text(diagnosis, wish_.request, wish_.all, style_);
  }

  const Wish& wish_;
  Output& output_;
  Style style_;
  bool several_ = false;
  std::size_t written_ = 0;
};

int run(Wish& wish) {
  DevicePeaks peaks;
  if (!wish.peaks.empty()) {
    Result<DevicePeaks> found = DevicePeaks::named(wish.peaks);
    if (!found) return fail(std::move(found).error().in("--peaks"));
    peaks = std::move(*found);
    wish.request.peaks = peaks.chosen();
  }
  Result<Output> output = Output::open(wish.output.path);
  if (!output) return fail(output.error());
  Writer writer(wish, *output);
  const int code = for_each_session(wish.read, [&](const Session& session, bool several) {
    return writer.add(session, several);
  });
  const Result<void> ended = writer.end();
  return ended ? code : fail(ended.error());
}

}  // namespace

Command diagnose() {
  Command command;
  command.name = "diagnose";
  command.group = "Diagnosis";
  command.title = "Why is this slow, what to change, and what will it give?";
  command.operand = "INPUT…";
  command.doc =
      "Accounts for every nanosecond of the steps, names what bounds them, and lists what to "
      "change "
      "in the order of the predicted gain. Findings divide the step among them: no time is "
      "promised "
      "twice. Gains come from a replay of the recording with the change in it. Text fits the "
      "screen: --all shows the rest, --focus narrows the diagnosis to a part of the step. fathom "
      "explain tells what a rule or a word means.";
  command.examples = {"fathom diagnose trace.json.gz",
                      "fathom diagnose --steps 3-7 --all trace.json.gz",
                      "fathom diagnose --focus backward trace.json.gz",
                      "fathom diagnose --html page.html trace.json.gz",
                      "fathom diagnose --json trace.json.gz | jq -r .verdict.id"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto wish = std::make_shared<Wish>();
    options.operands("INPUT", wish->read.inputs, 1);
    DiagnosisRequest& request = wish->request;
    declare_selection(options, request.steps, request.device, request.window);
    options.flag("--exclude-warmup", request.exclude_warmup,
                 "Leave out leading steps that are longer than 1.5 × the median");
    options.text(
        "--focus", "NAME", request.focus,
        "Diagnose the calls of this module, annotation or operator, or the stretches of this "
        "phase, instead of the steps",
        {"forward", "backward", "optimizer", "data", "communication"});
    options.text("--peaks", "NAME|FILE", wish->peaks,
                 "Judge by this device instead of the recorded one: 'H100 SXM', or a JSON file "
                 "that describes one (docs/metrics.md)");
    options.group("Output");
    options.flag("--all", wish->all,
                 "Every finding in full, and what each rule said, however long");
    options.text("--html", "FILE", wish->html,
                 "Also write one page with charts and tables; it needs no network");
    options.flag("--json", wish->output.json, "JSON, schema fathom.diagnosis/1");
    declare_text_output(options, wish->output);
    declare_reading(options, wish->read);
    return [wish] { return run(*wish); };
  };
  return command;
}

}  // namespace fathom::cli
