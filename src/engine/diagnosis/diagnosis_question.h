// What was asked of a diagnosis, as one text: answers that are kept are found by it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// Two requests that may be answered differently have different texts. `input` is what the
/// recording is called, `form` all else that the bytes of the answer depend on. Unset for a request
/// that depends on more than the recording: on peaks from a file, or on other ranks.
std::optional<std::string> diagnosis_question(std::string_view input,
                                              const DiagnosisRequest& request,
                                              std::string_view form);

/// Of `fathom diagnose --json`, of which the page is given the same bytes.
inline constexpr std::string_view kDiagnosisJsonForm = "json";

}  // namespace fathom
