// The diagnosis, as `fathom diagnose --json` prints it.
#include "engine/diagnosis/diagnosis.h"

#include <optional>

#include "engine/diagnosis/typed_diagnosis.h"
#include "engine/ranks/each_diagnosis.h"
#include "render/diagnosis_json.h"
#include "server/diagnosis_ahead.h"
#include "server/route.h"

namespace fathom::server {
namespace {

/// Of the ranks of one program; unset where the inputs are something else.
Result<std::optional<std::string>> of_ranks(const ViewRequest& view,
                                            const DiagnosisRequest& request) {
  std::optional<std::string> json;
  std::optional<Error> failure;
  const InputHandlers handlers{.open =
                                   [&view](const Inputs::File& file) {
                                     return Session::open(file,
                                                          ReadOptions{.threads = view.threads});
                                   },
                               .skipped = [](const Error&) {},
                               .failed = [&failure](const Error& error) { failure = error; }};
  for_each_diagnosis(view.inputs, request, handlers, [&](const InputDiagnosis& one) {
    if (!one.several) json = render_diagnosis_json(one.diagnosis) + "\n";
    return Result<Proceed>(Proceed::stop);
  });
  if (!json && failure) return *std::move(failure);
  return json;
}

Result<std::string> compute(const Call& call) {
  Result<TypedDiagnosis> typed = typed_diagnosis(call.options());
  if (!typed) return std::move(typed).error();
  const ViewRequest& view = call.viewed.request();
  if (view.inputs.files.size() > 1 && call.text("input").empty()) {
    Result<std::optional<std::string>> ranks = of_ranks(view, typed->request);
    if (!ranks) return std::move(ranks).error();
    if (*ranks) return **std::move(ranks);
  }
  return diagnosis_json(*call.input, typed->request);
}

Result<Response> answer_diagnosis(const Call& call) {
  const std::string key = diagnosis_key(call.text("input"), call.options());
  Result<std::string> json = call.input->diagnoses().get(key, [&] { return compute(call); });
  if (!json) return std::move(json).error();
  return json_response(*std::move(json));
}

}  // namespace

Route diagnosis() { return {.path = "api/diagnosis", .answer = answer_diagnosis}; }

}  // namespace fathom::server
