// The diagnosis, as `fathom diagnose --json` prints it.
#include "engine/diagnosis/typed_diagnosis.h"
#include "server/diagnosis_ahead.h"
#include "server/route.h"
#include "server/view_diagnosis.h"

namespace fathom::server {
namespace {

Result<std::string> compute(const Call& call) {
  Result<TypedDiagnosis> typed = typed_diagnosis(call.options());
  if (!typed) return std::move(typed).error();
  if (call.text("input").empty())
    return view_diagnosis(call.viewed, *call.input, typed->request, {});
  return diagnosis_json(call.input->session(), typed->request);
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
