// Goes through the ranks by way of the page's own inputs, so that none is read twice.
#include "server/view_diagnosis.h"

#include <optional>
#include <utility>

#include "engine/diagnosis/diagnosis_question.h"
#include "render/diagnosis_json.h"

namespace fathom::server {
namespace {

/// Unset where the inputs are something else than ranks.
Result<std::optional<std::string>> of_ranks(Viewed& viewed, const DiagnosisRequest& request,
                                            const BesideRanks& beside) {
  std::optional<std::string> json;
  std::optional<Error> failure;
  const auto open = [&](const Inputs::File& file) {
    Result<SharedSession> session = viewed.session(file);
    if (!session && beside.failed) beside.failed(file, session.error());
    return session;
  };
  const InputHandlers handlers{.open = open,
                               .skipped = [](const Error&) {},
                               .failed = [&failure](const Error& error) { failure = error; }};
  for_each_diagnosis(viewed.request().inputs, request, handlers,
                     [&](const InputDiagnosis& one) {
                       if (!one.several) json = render_diagnosis_json(one.diagnosis) + "\n";
                       return Result<Proceed>(Proceed::stop);
                     },
                     {.each = beside.each});
  if (!json && failure) return *std::move(failure);
  return json;
}

}  // namespace

Result<std::string> diagnosis_json(const Session& session, const DiagnosisRequest& request) {
  const std::optional<std::string> question =
      session.kept() == nullptr ? std::nullopt
                                : diagnosis_question(session.input(), request, kDiagnosisJsonForm);
  if (question) {
    if (std::optional<std::string> kept = session.kept()->find_answer(*question))
      return *std::move(kept);
  }
  const Result<Diagnosis> found = diagnose(session, request);
  if (!found) return found.error();
  std::string json = render_diagnosis_json(*found) + "\n";
  if (question) session.kept()->keep_answer(*question, json);
  return json;
}

Result<std::string> view_diagnosis(Viewed& viewed, const OpenInput& first,
                                   const DiagnosisRequest& request, const BesideRanks& beside) {
  if (may_be_one_program(viewed.request().inputs)) {
    Result<std::optional<std::string>> ranks = of_ranks(viewed, request, beside);
    if (!ranks) return std::move(ranks).error();
    if (*ranks) return **std::move(ranks);
  }
  return diagnosis_json(first.session(), request);
}

}  // namespace fathom::server
