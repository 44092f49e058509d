// Asks through the table of routes, so that a file says what the server says.
#include "server/page_file/carrier.h"

#include <atomic>

#include "server/page_file/question.h"
#include "server/route.h"

namespace fathom::server {

Response Carrier::ask(const std::string& question) const {
  const Result<Target> target = parse_target("/" + about_input(question, input_));
  if (!target) return error_response(target.error());
  const std::atomic<bool> dropped = false;
  return answer(
      viewed_,
      {.path = std::string_view(target->path).substr(1), .target = *target, .dropped = dropped});
}

bool Carrier::has(const std::string& question) const {
  return archive_.has(about_input(question, input_));
}

void Carrier::keep_as(const std::string& question, const Response& response) {
  if (redactor_ == nullptr || response.type != "application/json") {
    archive_.add(about_input(question, input_), response.bytes(), response.status);
  } else {
    archive_.add(about_input(question, input_), redactor_->json(response.bytes()), response.status);
  }
}

std::size_t Carrier::keep(const std::string& question) {
  if (has(question)) return 0;
  const Response response = ask(question);
  keep_as(question, response);
  return response.bytes().size();
}

void Carrier::keep_plain(const std::string& question) {
  if (!archive_.has(question)) archive_.add(question, ask(question).bytes());
}

std::string Carrier::shown(std::string_view name) const {
  return redactor_ == nullptr ? std::string(name) : redactor_->text(name);
}

Parameters Carrier::scope(std::string_view takes) const {
  Parameters scope;
  for (const auto& [name, value] : viewed_.request().scope) {
    if (takes.find(name) != std::string_view::npos) scope.emplace_back(name, value);
  }
  return scope;
}

}  // namespace fathom::server
