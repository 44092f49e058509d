// The words of the program and what each means: verdicts, buckets, labels, values of columns.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace fathom {

struct Term {
  std::string_view id;    ///< As text and JSON show it: "input-bound", "dispatch", "tail".
  std::string_view kind;  ///< The id of a TermKind; a word may be of several, once in each.
  std::string_view doc;   ///< What it means; docs/diagnosis.md and docs/metrics.md say more.
};

struct TermKind {
  std::string_view id;       ///< "verdict", "bucket", …
  std::string_view heading;  ///< Over its terms in a list.
  std::string_view where;    ///< Where the program shows them, as the end of a sentence.
};

/// Every kind, in the order of the glossary.
std::span<const TermKind> all_term_kinds();
/// Every term, in the order of the glossary, those of a kind beside each other.
std::span<const Term> all_terms();
/// The terms of that id; empty where there is none.
std::vector<const Term*> find_terms(std::string_view id);

}  // namespace fathom
