// Asks as the page does.
#include "server/diagnosis_ahead.h"

#include <algorithm>

#include "engine/diagnosis/typed_diagnosis.h"
#include "server/view_diagnosis.h"

namespace fathom::server {

std::string diagnosis_key(std::string_view input, const TypedOptions& options) {
  std::string key(input);
  for (const auto& [name, value] : options) key.append("\n").append(name).append("=").append(value);
  return key;
}

void diagnose_ahead(OpenInput& input, TypedOptions scope) {
  std::ranges::sort(scope);  // as the page's addresses are
  static_cast<void>(input.diagnoses().get(diagnosis_key({}, scope), [&]() -> Result<std::string> {
    const Result<TypedDiagnosis> typed = typed_diagnosis(scope);
    if (!typed) return typed.error();
    return diagnosis_json(input.session(), typed->request);
  }));
}

}  // namespace fathom::server
