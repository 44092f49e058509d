// fathom diagnose: why is this slow, what to change, what will it give?
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/each_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/page_file_options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "engine/device_peaks.h"
#include "engine/diagnosis/batch_point.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/diagnosis_question.h"
#include "engine/ranks/each_diagnosis.h"
#include "render/diagnosis_json.h"
#include "render/diagnosis_text.h"
#include "server/page_file/rank_answers.h"
#include "server/viewed.h"

namespace fathom::cli {
namespace {

struct DiagnoseArguments {
  InputArguments read;
  DiagnosisRequest request;
  OutputArguments output;
  bool all = false;
  PageFileArguments page;
  std::string peaks;  ///< A device's name or a file of devices; empty: the recorded one's.
};

/// The recordings behind the input, the diagnosed one in front: timeline and tables of the page are
/// of the first, and findings name its slices.
Inputs with_first(const Inputs& inputs, const Inputs::File& first) {
  Inputs ordered = inputs;
  const auto diagnosed = std::ranges::find_if(ordered.files, [&first](const Inputs::File& file) {
    return file.name() == first.name() && file.argument == first.argument;
  });
  if (diagnosed != ordered.files.end())
    std::rotate(ordered.files.begin(), diagnosed, diagnosed + 1);
  return ordered;
}

TypedOptions scope_of(const DiagnosisRequest& request) {
  TypedOptions scope = selection_options(request.steps, request.device, request.window);
  if (!request.focus.empty()) scope.emplace_back("focus", request.focus);
  return scope;
}

/// What `fathom view --html` writes, with this diagnosis.
Result<void> write_page(const DiagnoseArguments& args, const Inputs& inputs,
                        const InputDiagnosis& one, const server::RankAnswers& ranks) {
  const DiagnosisRequest& request = args.request;
  const TypedOptions selected = selection_options(request.steps, request.device, request.window);
  server::ViewRequest view{.inputs = with_first(inputs, one.file),
                           .threads = args.read.threads,
                           .command = server::view_command(selected, args.read.inputs),
                           .scope = scope_of(request)};
  PageFileArguments page = args.page;
  page.file.diagnosis = &one.diagnosis;
  page.file.request = &request;
  page.file.ranks = &ranks;
  // Of ranks, another one may have looked worse until the last was read.
  if (one.session == nullptr) {
    server::Viewed viewed(std::move(view));
    return write_page_file(page, viewed);
  }
  server::Viewed viewed(std::move(view), one.session);
  return write_page_file(page, viewed);
}

/// As they are, and what cannot be read is known to the page.
InputHandlers handlers_for_page(InputHandlers handlers, server::RankAnswers& ranks) {
  handlers.open = [open = std::move(handlers.open), &ranks](const Inputs::File& file) {
    Result<SharedSession> session = open(file);
    if (!session) ranks.add_failed(file, session.error());
    return session;
  };
  return handlers;
}

/// A page of several ranks shows something of each, and all of the one that is diagnosed.
BesideDiagnosis beside_for_page(const DiagnoseArguments& args, const Inputs& inputs,
                                server::RankAnswers& ranks) {
  if (args.page.html.empty() || !may_be_one_program(inputs)) return {};
  return {.each =
              [&](const Session& session, const Inputs::File& file, const Diagnosis& diagnosis) {
                ranks.add(session, file, diagnosis, args.request);
              },
          .keep_diagnosed = true};
}

/// What the text depends on beside recording and request.
std::string text_form(bool all, const Style& style) {
  std::string form = "text";
  for (const std::size_t part :
       {std::size_t{all}, style.width, std::size_t{style.colour}, std::size_t{style.wide},
        std::size_t{style.soft_width}, style.height, std::size_t{style.ascii}})
    form += " " + std::to_string(part);
  return form;
}

/// What the same command printed before, where its one input is a file. With --html it is not
/// asked, for the page needs the diagnosis itself.
class KeptOutput {
 public:
  KeptOutput(const DiagnoseArguments& args, const Inputs& inputs, const Style& style)
      : args_(args), style_(style) {
    const bool one = !inputs.several && inputs.files.size() == 1 && !inputs.files[0].of_session();
    if (one && args.page.html.empty()) file_ = inputs.files[0].path;
  }

  [[nodiscard]] std::optional<std::string> find() const {
    const std::optional<std::string> asked =
        args_.output.json ? question(kDiagnosisJsonForm) : question(text_form(args_.all, style_));
    return asked ? TraceCache(file_).find_answer(*asked) : std::nullopt;
  }
  /// For the next time: `text` as it was printed, and JSON in any case, since the page is given it.
  /// What was printed is whole, also where the memory ends here.
  void keep(const InputDiagnosis& one, std::string_view text) const try {
    const TraceCache* const cache = one.session == nullptr ? nullptr : one.session->kept();
    const std::optional<std::string> json = question(kDiagnosisJsonForm);
    if (cache == nullptr || !json) return;
    cache->keep_answer(*json, render_diagnosis_json(one.diagnosis) + "\n");
    if (args_.output.json) return;
    cache->keep_answer(*question(text_form(args_.all, style_)), text);
  } catch (const std::bad_alloc&) {
    return;  // it is made anew
  }

 private:
  [[nodiscard]] std::optional<std::string> question(std::string_view form) const {
    if (file_.empty()) return std::nullopt;
    return diagnosis_question(file_, args_.request, form);
  }

  const DiagnoseArguments& args_;
  const Style& style_;
  std::string file_;  ///< Empty: it is not kept.
};

/// The inputs so far whose batch is known: with two of them a third batch can be predicted.
class Batches {
 public:
  /// The diagnosis with a note, where an earlier input is the same program with another batch.
  std::optional<Diagnosis> noted(const Diagnosis& diagnosis) {
    const std::optional<BatchSize> size = batch_size_of(diagnosis);
    if (!size) return std::nullopt;
    std::optional<Diagnosis> noted;
    for (auto earlier = sizes_.rbegin(); earlier != sizes_.rend() && !noted; ++earlier) {
      if (const std::optional<BatchPoint> point = with_twice_the_batch(*earlier, *size)) {
        noted = diagnosis;
        noted->notes.push_back(batch_note(*earlier, *size, *point));
      }
    }
    sizes_.push_back(*size);
    return noted;
  }

 private:
  std::vector<BatchSize> sizes_;
};

int run_diagnose(DiagnoseArguments& args) {
  const ThreadPool pool(args.read.threads);
  const Result<void> checked = check_page_file(args.page);
  if (!checked) return fail(checked.error());
  const Result<DevicePeaks> peaks = DevicePeaks::asked(args.peaks);
  if (!peaks) return fail(Error(peaks.error()).in("--peaks"));
  args.request.peaks = peaks->chosen();
  const Result<Inputs> inputs = inputs_of(args.read);
  if (!inputs) return fail(inputs.error());
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output& output) {
    const KeptOutput kept(args, *inputs, writer.style());
    if (const std::optional<std::string> before = kept.find()) {
      const Result<void> written = writer.raw(*before);
      return written ? kFine : fail(written.error());
    }
    Batches batches;
    server::RankAnswers ranks(scope_of(args.request), args.page.file.redact);
    const auto use = [&](const InputDiagnosis& one) -> Result<Proceed> {
      if (one.several && !args.page.html.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "--html takes one input at a time; fathom view --html compares two"};
      }
      writer.expect_several(one.several);
      const std::optional<Diagnosis> noted =
          one.several ? batches.noted(one.diagnosis) : std::nullopt;
      const Diagnosis& shown = noted ? *noted : one.diagnosis;
      std::string text;
      if (!args.output.json)
        text = render_diagnosis_text(shown, args.request, args.all, writer.style());
      Result<void> written = args.output.json ? writer.json([&](std::string_view indent) {
        return render_diagnosis_json(shown, indent);
      })
                                              : writer.text(text);
      if (written && !args.page.html.empty()) written = write_page(args, *inputs, one, ranks);
      if (!written) return std::move(written).error();
      kept.keep(one, text);
      return output.closed() ? Proceed::stop : Proceed::next;
    };
    int code = kFine;
    for_each_diagnosis(*inputs, args.request,
                       handlers_for_page(input_handlers(args.read, code), ranks), use,
                       beside_for_page(args, *inputs, ranks));
    return code;
  });
}

}  // namespace

Command diagnose() {
  Command command;
  command.name = "diagnose";
  command.group = "Diagnosis";
  command.title = "Why is this slow, what to change, and how much will it save?";
  command.operand = "INPUT…";
  command.doc =
      "Accounts for every nanosecond of the steps, names what bounds them, and lists what to "
      "change in the order of the predicted saving. Findings divide the step among them: no time "
      "counts twice. A folder with the ranks of one program is one input: they are compared, and "
      "the one that the others wait for is diagnosed, else the one with the longest steps. Inputs "
      "that are one program with two batches also give the step with a larger one. Savings "
      "are predicted by a replay of the recording with the change in it. Text fits the screen: "
      "--all shows the rest, --focus narrows the diagnosis to a part of the step. fathom explain "
      "defines rules and words.";
  command.examples = {"fathom diagnose trace.json.gz",
                      "fathom diagnose --steps 3-7 --all trace.json.gz",
                      "fathom diagnose --focus backward trace.json.gz",
                      "fathom diagnose --html page.html trace.json.gz",
                      "fathom diagnose --json trace.json.gz | jq -r .verdict.id"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<DiagnoseArguments>();
    options.operands("INPUT", args->read.inputs, 1);
    DiagnosisRequest& request = args->request;
    declare_selection(options, request.steps, request.device, request.window);
    options.parsed("--rank", "N", number_into<std::int64_t>(request.rank, 0),
                   "Of a folder with the ranks of one program, diagnose this one instead of the "
                   "one that the others wait for");
    options.flag("--exclude-warmup", request.exclude_warmup,
                 "Leave out leading steps that are longer than 1.5 × the median");
    options.text(
        "--focus", "NAME", request.focus,
        "Diagnose the calls of this module, annotation or operator, or the stretches of this "
        "phase, instead of the steps",
        {"forward", "backward", "optimizer", "data", "communication"});
    options.text("--peaks", "NAME|FILE", args->peaks,
                 "Judge by this device instead of the recorded one: 'H100 SXM', or a JSON file "
                 "that describes one (docs/metrics.md)");
    options.parsed("--price", "MONEY", rate_into(request.price_per_kwh),
                   "Price of a kilowatt-hour, to turn the run's energy into money (default: as "
                   "given to fathom run)");
    options.parsed("--carbon", "GRAMS", rate_into(request.carbon_g_per_kwh),
                   "Grams of CO2 per kilowatt-hour (default: as given to fathom run)");
    options.group("Output");
    options.flag("--all", args->all,
                 "Every finding in full, and the outcome of each rule, however long");
    options.flag("--json", args->output.json, "JSON, schema fathom.diagnosis/1");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    declare_page_file(options, args->page,
                      "Also write the page of fathom view into this file, with this diagnosis; it "
                      "needs no network, and says what is not in it");
    return [args] { return run_diagnose(*args); };
  };
  return command;
}

}  // namespace fathom::cli
