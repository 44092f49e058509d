// Asks as the page does.
#include "server/diagnosis_ahead.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/diagnosis/diagnosis_question.h"
#include "engine/diagnosis/typed_diagnosis.h"
#include "render/diagnosis_json.h"

namespace fathom::server {

std::string diagnosis_key(std::string_view input, const TypedOptions& options) {
  std::string key(input);
  for (const auto& [name, value] : options) key.append("\n").append(name).append("=").append(value);
  return key;
}

Result<std::string> diagnosis_json(const OpenInput& input, const DiagnosisRequest& request) {
  const Session& session = input.session();
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

void diagnose_ahead(OpenInput& input, TypedOptions scope) {
  std::ranges::sort(scope);  // as the page's addresses are
  static_cast<void>(input.diagnoses().get(diagnosis_key({}, scope), [&]() -> Result<std::string> {
    const Result<TypedDiagnosis> typed = typed_diagnosis(scope);
    if (!typed) return typed.error();
    return diagnosis_json(input, typed->request);
  }));
}

}  // namespace fathom::server
