// What changed between two inputs, as `fathom compare --json` prints it.
#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

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

/// The runs behind one argument. One recording at a time is in memory beside the first.
Result<Runs> runs_behind(Viewed& viewed, std::size_t argument, const Request& request) {
  const Inputs& all = viewed.request().inputs;
  Inputs inputs{.arguments = all.arguments, .files = {}, .several = all.several};
  std::ranges::copy_if(all.files, std::back_inserter(inputs.files),
                       [argument](const Inputs::File& file) { return file.argument == argument; });
  std::vector<Profile> profiles;
  std::optional<Error> failure;
  const InputHandlers handlers{
      .open = [&viewed](const Inputs::File& file) { return viewed.session(file); },
      .skipped = [](const Error&) {},
      .failed = [&failure](const Error& error) { failure = error; }};
  for_each_session(inputs, handlers,
                   [&](const SharedSession& session, const Inputs::File&) -> Result<Proceed> {
                     Result<Profile> profile = profile_of(*session, request);
                     if (!profile) return std::move(profile).error();
                     profiles.push_back(*std::move(profile));
                     return Proceed::next;
                   });
  if (failure) return *std::move(failure);
  if (profiles.empty())
    return Error{ErrorCode::not_found, all.arguments[argument] + ": nothing to compare"};
  return runs_of(std::move(profiles));
}

Result<std::string> compute(const Call& call) {
  if (call.viewed.request().inputs.arguments.size() != 2)
    return Error{ErrorCode::not_found, "two inputs are compared: fathom view BASE NEW"};
  const Result<Request> request = request_of(call.options());
  if (!request) return request.error();
  const Result<Runs> base = runs_behind(call.viewed, 0, *request);
  if (!base) return base.error();
  const Result<Runs> now = runs_behind(call.viewed, 1, *request);
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
