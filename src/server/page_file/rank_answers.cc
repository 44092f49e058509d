// Asks of each rank what the page asks: its diagnosis within the scope, on whatever device.
#include "server/page_file/rank_answers.h"

#include <algorithm>
#include <vector>

#include "engine/diagnosis/diagnosis_question.h"
#include "render/diagnosis_json.h"
#include "server/view_diagnosis.h"

namespace fathom::server {
namespace {

/// Devices have other numbers on other ranks.
TypedOptions without_device(TypedOptions scope) {
  std::erase_if(scope, [](const auto& option) { return option.first == "device"; });
  return scope;
}

/// Do both give the same of one recording? Which rank is chosen is not about it.
bool ask_the_same(DiagnosisRequest one, const DiagnosisRequest& other) {
  one.rank.reset();
  const std::optional<std::string> question = diagnosis_question({}, one, {});
  return question && question == diagnosis_question({}, other, {});
}

Response answer_of(const Session& session, const Diagnosis& diagnosis,
                   const DiagnosisRequest& request, const DiagnosisRequest& asked) {
  if (ask_the_same(request, asked)) return json_response(render_diagnosis_json(diagnosis) + "\n");
  Result<std::string> json = diagnosis_json(session, asked);
  return json ? json_response(*std::move(json)) : error_response(json.error());
}

}  // namespace

RankAnswers::RankAnswers(const TypedOptions& scope, bool redact)
    : asked_(typed_diagnosis(without_device(scope))), redact_(redact) {}

void RankAnswers::add(const Session& session, const Inputs::File& file, const Diagnosis& diagnosis,
                      const DiagnosisRequest& request) {
  if (redact_) redactor_.add(session.trace().strings);
  std::optional<Response>& answer = seen_[key_of(file)];
  if (++kept_ > kMost) return;
  answer = asked_ ? answer_of(session, diagnosis, request, asked_->request)
                  : error_response(asked_.error());
  compress(*answer);
}

void RankAnswers::add_failed(const Inputs::File& file, const Error& error) {
  seen_[key_of(file)] = error_response(error);
}

std::optional<Response> RankAnswers::find(const Inputs::File& file) const {
  const auto found = seen_.find(key_of(file));
  if (found == seen_.end() || !found->second) return std::nullopt;
  Response answer = *found->second;
  expand(answer);
  return answer;
}

}  // namespace fathom::server
