// Reads recordings into profiles.
#include "cli/compared_input.h"

#include <utility>

#include "cli/command.h"
#include "cli/messages.h"
#include "compare/baseline.h"
#include "compare/bench_result.h"

namespace fathom::cli {
namespace {

/// Where only recordings may stand.
Result<void> no_baseline(const std::string& input, HeldFiles& held) {
  const Result<std::optional<SavedBaseline>> baseline = baseline_in(input, held);
  if (!baseline) return Error(baseline.error());
  if (!*baseline) return {};
  return Error{ErrorCode::unsupported,
               input +
                   ": this is a baseline, and here a recording is needed; a baseline is what "
                   "fathom check --against and both sides of fathom compare take"};
}

}  // namespace

void add_profiles(const Inputs& inputs, const Request& request, InputHandlers handlers,
                  std::vector<Profile>& profiles) {
  std::size_t skipped = 0;
  handlers.skipped = [&skipped, say = std::move(handlers.skipped)](const Error& error) {
    ++skipped;
    say(error);
  };
  const bool some = !profiles.empty();
  handlers.failed = [&, say = std::move(handlers.failed)](const Error& error) {
    if (!some || skipped < inputs.files.size()) say(error);
  };
  for_each_session(inputs, handlers,
                   [&](const SharedSession& session, const Inputs::File&) -> Result<Proceed> {
                     Result<Profile> profile = profile_of(*session, request);
                     if (!profile) return std::move(profile).error();
                     profiles.push_back(std::move(*profile));
                     return Proceed::next;
                   });
}

std::optional<std::vector<Profile>> profiles_of(const InputArguments& read, const Request& request,
                                                const std::string& input, int& code) {
  InputArguments one = read;
  one.inputs = {input};
  std::vector<Profile> profiles;
  const Result<Inputs> inputs = inputs_of(one);
  if (!inputs) {
    code = fail(inputs.error());
    return std::nullopt;
  }
  add_profiles(*inputs, request, input_handlers(read, code), profiles);
  if (code != kFine || profiles.empty()) return std::nullopt;
  return profiles;
}

std::optional<Runs> runs_behind(const InputArguments& read, const Request& request,
                                const std::vector<std::string>& inputs, int& code) {
  Runs all;
  HeldFiles own;
  InputArguments held = read;
  if (held.held == nullptr) held.held = &own;
  for (const std::string& input : inputs) {
    if (const Result<void> recording = no_baseline(input, *held.held); !recording) {
      code = fail(recording.error());
      return std::nullopt;
    }
    std::optional<std::vector<Profile>> profiles = profiles_of(held, request, input, code);
    if (!profiles) return std::nullopt;
    for (Run& run : runs_of(std::move(*profiles))) all.push_back(std::move(run));
  }
  return all;
}

std::optional<Runs> side_behind(const InputArguments& read, const Request& request,
                                const std::vector<std::string>& inputs, int& code) {
  Runs all;
  const auto refuse = [&code](const Error& error) {
    code = fail(error);
    return std::nullopt;
  };
  HeldFiles held;
  InputArguments looked_at = read;
  looked_at.held = &held;
  for (const std::string& input : inputs) {
    Result<std::optional<Profile>> bench = bench_result_in(input, held);
    if (!bench) return refuse(bench.error());
    if (*bench) {
      all.push_back({std::move(**bench)});
      continue;
    }
    Result<std::optional<SavedBaseline>> baseline = baseline_in(input, held);
    if (!baseline) return refuse(baseline.error());
    if (*baseline && !version_note(**baseline).empty())
      say_warning(input + ": " + version_note(**baseline), read.quiet);
    std::optional<Runs> runs = *baseline ? std::optional(std::move((*baseline)->last.runs))
                                         : runs_behind(looked_at, request, {input}, code);
    if (!runs) return std::nullopt;
    for (Run& run : *runs) all.push_back(std::move(run));
  }
  return all;
}

}  // namespace fathom::cli
