// fathom verify: did the change save what the finding predicted?
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/compared_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/result_writer.h"
#include "cli/selection_options.h"
#include "cli/utc.h"
#include "compare/baseline.h"
#include "compare/ledger.h"
#include "compare/verification.h"
#include "engine/ranks/each_diagnosis.h"
#include "render/verify_text.h"

namespace fathom::cli {
namespace {

struct VerifyArguments {
  InputArguments read;  ///< FINDING BASE NEW.
  Request request;
  OutputArguments output;
  bool within_runs = false;
  std::string ledger;
};

Error usage(const std::string& message) {
  return {ErrorCode::invalid_argument, "verify: " + message};
}

/// "a,b/c".
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

/// What is taken of BASE while each of its recordings is in memory once.
struct Base {
  /// By the diagnosis of the first recording; of ranks by the one that is diagnosed.
  std::optional<PredictedSaving> prediction;
  std::vector<Profile> profiles;
};

/// Diagnoses the recordings as far as needed, and takes the profile of each of these; moves behind
/// them in `inputs`.
Result<void> predict(const VerifyArguments& args, const std::vector<std::string>& names,
                     Inputs& inputs, InputHandlers handlers, Base& base) {
  DiagnosisRequest request;
  request.steps = args.request.steps;
  request.device = args.request.device;
  request.window = args.request.window;
  std::ptrdiff_t opened = 0;
  handlers.open = [&opened, open = std::move(handlers.open)](const Inputs::File& file) {
    ++opened;
    return open(file);
  };
  Result<void> profiled;
  const auto profile = [&](const Session& session, const Inputs::File&, const Diagnosis&) {
    Result<Profile> one = profile_of(session, args.request);
    if (one) {
      base.profiles.push_back(*std::move(one));
    } else if (profiled) {
      profiled = std::move(one).error();
    }
  };
  for_each_diagnosis(inputs, request, handlers,
                     [&](const InputDiagnosis& input) -> Result<Proceed> {
                       Result<PredictedSaving> prediction = prediction_of(input.diagnosis, names);
                       if (!prediction) return std::move(prediction).error();
                       base.prediction = std::move(*prediction);
                       return Proceed::stop;
                     },
                     {.each = profile});
  inputs.files.erase(inputs.files.begin(), inputs.files.begin() + opened);
  return profiled;
}

/// Unset where it has no such prediction, or not all of it can be read, which is then said.
std::optional<Base> read_base(const VerifyArguments& args, const std::vector<std::string>& names,
                              const std::string& base, int& code) {
  HeldFiles held;
  if (const auto saved = baseline_in(base, held); saved && *saved) {
    code = fail({ErrorCode::unsupported,
                 base + ": this is a baseline, which has no findings; name the recording that it "
                        "was saved from, or see what changed with fathom compare"});
    return std::nullopt;
  }
  InputArguments one = args.read;
  one.inputs = {base};
  one.held = &held;
  Result<Inputs> inputs = inputs_of(one);
  if (!inputs) {
    code = fail(inputs.error());
    return std::nullopt;
  }
  Base found;
  const InputHandlers handlers = input_handlers(one, code);
  const Result<void> profiled = predict(args, names, *inputs, handlers, found);
  if (!found.prediction) return std::nullopt;
  if (!profiled) code = fail(profiled.error());
  add_profiles(*inputs, args.request, handlers, found.profiles);
  if (code != kFine) return std::nullopt;
  return found;
}

Result<void> append(const std::string& path, const std::string& line) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << line << std::flush;
  if (file) return {};
  return Error{ErrorCode::io, path + ": the ledger cannot be written"};
}

int show_ledger(const VerifyArguments& args) {
  std::ifstream file(args.ledger, std::ios::binary);
  if (!file)
    return fail({ErrorCode::not_found, args.ledger + ": there is no ledger; fathom verify FINDING "
                                                     "BASE NEW --ledger FILE begins one"});
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const PredictionLedger ledger = parse_ledger(text);
  if (ledger.entries.empty() && ledger.unreadable > 0)
    return fail({ErrorCode::corrupt, args.ledger + ": no line of it is an entry of a ledger"});
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written = args.output.json
                                     ? writer.json([&](std::string_view indent) {
                                         return render_ledger_json(ledger, indent);
                                       })
                                     : writer.text(render_ledger_text(ledger, writer.style()));
    return written ? kFine : fail(written.error());
  });
}

int write(const VerifyArguments& args, const Verification& verification) {
  return write_results(args.output, {}, [&](ResultWriter& writer, const Output&) {
    const Result<void> written =
        args.output.json ? writer.json([&](std::string_view indent) {
          return render_verify_json(verification, indent);
        })
                         : writer.text(render_verify_text(verification, writer.style()));
    if (!written) return fail(written.error());
    switch (verification.outcome) {
      case VerifyOutcome::confirmed:
        return kFine;
      case VerifyOutcome::cannot_tell:
        return kCannotTell;
      default:
        return kCheckFailed;
    }
  });
}

int run_verify(const VerifyArguments& args) {
  const ThreadPool pool(args.read.threads);
  const std::vector<std::string>& words = args.read.inputs;
  if (words.empty() && !args.ledger.empty()) return show_ledger(args);
  if (words.size() != 3)
    return fail(usage("takes FINDING, BASE and NEW; or --ledger FILE alone, to show it"));
  const std::vector<std::string> names = names_in(words[0]);
  if (names.empty()) return fail(usage("the finding's name is empty"));
  int code = kFine;
  std::optional<Base> base = read_base(args, names, words[1], code);
  if (!base) return code;
  const std::optional<Runs> now = runs_behind(args.read, args.request, {words[2]}, code);
  if (!now) return code;
  const Verification verification =
      verify_runs(*base->prediction, runs_of(std::move(base->profiles)), *now,
                  args.within_runs ? Claims::within_runs : Claims::over_runs);
  const int shown = write(args, verification);
  if (args.ledger.empty()) return shown;
  const Result<void> kept = append(args.ledger, ledger_line(verification, utc_now()));
  return kept ? shown : fail(kept.error());
}

}  // namespace

Command verify() {
  Command command;
  command.name = "verify";
  command.group = "Diagnosis";
  command.title = "Did a change save what a finding predicted?";
  command.operand = "FINDING BASE NEW";
  command.doc =
      "Diagnoses BASE, the recording before a change, and puts the saving that FINDING predicts "
      "there beside the measured change of the step time: confirmed, less than predicted, refuted, "
      "or cannot tell. FINDING is an id that fathom diagnose --json has, or a rule for all "
      "of its findings; several, with commas between them, count together. BASE and NEW are as in "
      "fathom check: folders with 6 and more recordings each, recorded in turns, are pairs of "
      "runs; one run a side decides only with --within-runs, and so do runs that took no turns. "
      "The exit code is 0 "
      "for confirmed, 1 for less and for refuted, 4 for cannot tell. docs/verify.md has "
      "the rules.";
  command.examples = {"fathom verify data-loading before.json.gz after.json.gz",
                      "fathom verify --ledger ledger.jsonl fp64 runs/base runs/new",
                      "fathom verify --ledger ledger.jsonl"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<VerifyArguments>();
    options.operands("FINDING BASE NEW", args->read.inputs, 0);
    options.text("--ledger", "FILE", args->ledger,
                 "Append the outcome to this file; without operands: show what became of "
                 "predictions, by rule");
    options.flag("--within-runs", args->within_runs,
                 "Judge by one run a side, too: true of these runs, not of how runs of the program "
                 "differ");
    declare_selection(options, args->request.steps, args->request.device, args->request.window);
    options.group("Output");
    options.flag("--json", args->output.json,
                 "JSON, schema fathom.verify/1; of a ledger fathom.ledger-summary/1");
    declare_text_output(options, args->output);
    declare_reading(options, args->read);
    return [args] { return run_verify(*args); };
  };
  return command;
}

}  // namespace fathom::cli
