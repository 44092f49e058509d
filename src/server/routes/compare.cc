// What changed between two inputs, as `fathom compare --json` prints it.
#include <optional>

#include "compare/runs.h"
#include "compare/sides.h"
#include "engine/each_session.h"
#include "render/compare_json.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Request> request_of(const TypedOptions& options) {
  Request request;
  const SelectionPlaces places{&request.steps, &request.device, &request.window};
  for (const auto& [name, text] : options) {
    const Result<bool> taken = take_selection(name, text, places);
    if (!taken) return taken.error();
    if (!*taken) return unknown_option(name);
  }
  return request;
}

/// The runs behind one argument. Each recording is read and left again.
Result<Runs> runs_behind(const ViewRequest& view, const std::string& argument,
                         const Request& request) {
  const Result<Inputs> inputs = expand_inputs(std::span(&argument, 1));
  if (!inputs) return inputs.error();
  std::vector<Profile> profiles;
  std::optional<Error> failure;
  const InputHandlers handlers{.open =
                                   [&view](const Inputs::File& file) {
                                     return Session::open(file,
                                                          ReadOptions{.threads = view.threads});
                                   },
                               .skipped = [](const Error&) {},
                               .failed = [&failure](const Error& error) { failure = error; }};
  for_each_session(*inputs, handlers,
                   [&](const Session& session, const Inputs::File&) -> Result<Proceed> {
                     Result<Profile> profile = profile_of(session, request);
                     if (!profile) return std::move(profile).error();
                     profiles.push_back(*std::move(profile));
                     return Proceed::next;
                   });
  if (failure) return *std::move(failure);
  if (profiles.empty()) return Error{ErrorCode::not_found, argument + ": nothing to compare"};
  return runs_of(std::move(profiles));
}

Result<std::string> compute(const Call& call) {
  const ViewRequest& view = call.viewed.request();
  const std::vector<std::string>& arguments = view.inputs.arguments;
  if (arguments.size() != 2)
    return Error{ErrorCode::not_found, "two inputs are compared: fathom view BASE NEW"};
  const Result<Request> request = request_of(call.options());
  if (!request) return request.error();
  const Result<Runs> base = runs_behind(view, arguments[0], *request);
  if (!base) return base.error();
  const Result<Runs> now = runs_behind(view, arguments[1], *request);
  if (!now) return now.error();
  const Result<ComparedSides> sides = compare_runs(*base, *now);
  if (!sides) return sides.error();
  return render_compare_json(*sides, std::nullopt, {}) + "\n";
}

Result<Response> answer_compare(const Call& call) {
  std::string key = "compare";
  for (const auto& [name, value] : call.options())
    key.append("\n").append(name).append("=").append(value);
  Result<std::string> json = call.input->diagnoses().get(key, [&] { return compute(call); });
  if (!json) return std::move(json).error();
  return json_response(*std::move(json));
}

}  // namespace

Route compare() { return {.path = "api/compare", .answer = answer_compare}; }

}  // namespace fathom::server
