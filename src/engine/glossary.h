// The words of a diagnosis: verdicts, buckets of the accounting, terms of a finding.
#pragma once

#include <span>
#include <string_view>

namespace fathom {

struct Term {
  std::string_view id;    ///< As text and JSON show it: "input-bound", "dispatch", "gain".
  std::string_view kind;  ///< "verdict", "bucket" or "term".
  std::string_view doc;   ///< What it means; docs/diagnosis.md and docs/metrics.md say more.
};

/// Every term, each once; verdicts first, then buckets in the order of the accounting.
std::span<const Term> all_terms();
/// The term of that id, or nullptr.
const Term* find_term(std::string_view id);

}  // namespace fathom
