// The outcome of a verification as text and JSON.
#pragma once

#include <string>
#include <string_view>

#include "compare/ledger.h"
#include "compare/verification.h"
#include "render/style.h"

namespace fathom {

std::string render_verify_text(const Verification& verification, const Style& style);
/// Schema fathom.verify/1: docs/verify.schema.json. An object without a final newline.
std::string render_verify_json(const Verification& verification, std::string_view indent);

/// Outcomes by rule.
std::string render_ledger_text(const PredictionLedger& ledger, const Style& style);
/// Schema fathom.ledger-summary/1.
std::string render_ledger_json(const PredictionLedger& ledger, std::string_view indent);

}  // namespace fathom
