// Finds the route of a request and gives it its input.
#include "server/route.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/stop.h"
#include "base/thread_pool.h"

namespace fathom::server {
namespace {

const Route* find(std::string_view path) {
  for (const Route& route : all_routes()) {
    const bool takes_more = route.path.ends_with('/');
    if (takes_more ? path.starts_with(route.path) && path.size() > route.path.size()
                   : path == route.path) {
      return &route;
    }
  }
  return nullptr;
}

/// The input of the parameter `input`, 0 without it.
Result<std::shared_ptr<OpenInput>> input_of(Viewed& viewed, const Target& target) {
  const std::string* const typed = target.find("input");
  const Result<std::int64_t> number =
      typed == nullptr ? Result<std::int64_t>(0) : parse_whole(*typed, 0);
  if (!number) return Error(number.error()).in("input");
  return viewed.open(static_cast<std::size_t>(*number));
}

/// An address without what chooses the recording.
std::string question_of(const GuardedRequest& request) {
  std::string question(request.path);
  for (const auto& [name, value] : request.target.parameters) {
    if (name != "input") question.append("\n").append(name).append("=").append(value);
  }
  return question;
}

Response answer_of(const Route& route, Viewed& viewed, OpenInput* input,
                   const GuardedRequest& request) {
  const std::size_t own = route.path.ends_with('/') ? route.path.size() : request.path.size();
  const Call call{.viewed = viewed,
                  .input = input,
                  .rest = request.path.substr(own),
                  .parameters = request.target.parameters};
  KeptScreen* const screen = input == nullptr || route.of_first_screen == nullptr ||
                                     !input->screen().keeps() || !route.of_first_screen(call)
                                 ? nullptr
                                 : &input->screen();
  const std::string question = screen == nullptr ? std::string() : question_of(request);
  if (screen != nullptr) {
    if (std::optional<Response> kept = screen->find(question)) return *std::move(kept);
  }
  Result<Response> response = route.answer(call);
  if (!response) return error_response(response.error());
  if (screen != nullptr) screen->keep(question, *response);
  return *std::move(response);
}

}  // namespace

std::string_view Call::text(std::string_view name) const {
  const auto at = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return at == parameters.end() ? std::string_view() : at->second;
}

Result<std::int64_t> Call::number(std::string_view name, std::int64_t otherwise) const {
  const auto at = std::ranges::find(parameters, name, &Parameters::value_type::first);
  if (at == parameters.end()) return otherwise;
  Result<std::int64_t> parsed = parse_whole(at->second, 0);
  return parsed ? parsed : std::move(parsed).error().in(name);
}

TypedOptions Call::options() const {
  TypedOptions options;
  for (const auto& [name, value] : parameters) {
    if (name != "input") options.emplace_back(name, value);
  }
  return options;
}

Response answer(Viewed& viewed, const GuardedRequest& request) {
  const Route* const route = find(request.path);
  if (route == nullptr) return error_response(404, "not_found", "there is nothing here");
  const ThreadPool pool(viewed.request().threads);
  std::shared_ptr<OpenInput> input;
  if (route->needs_input) {
    if (viewed.progress().state == Viewed::State::reading)
      return error_response(503, "reading", "the input is still being read");
    Result<std::shared_ptr<OpenInput>> opened = input_of(viewed, request.target);
    if (!opened) return error_response(opened.error());
    input = *std::move(opened);
    // Opening may take long.
    if (request.dropped.load()) return error_response(503, "dropped", "nobody waits any more");
  }
  const StopScope stop(&request.dropped);
  try {
    return answer_of(*route, viewed, input.get(), request);
  } catch (const Stopped&) {
    return error_response(503, "dropped", "nobody waits any more");
  }
}

}  // namespace fathom::server
