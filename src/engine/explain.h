// What a name means: rule, term, table or column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// One meaning of a name.
struct Explanation {
  std::string_view kind;  ///< "rule", the kind of a term, "table" or "column".
  std::string name;
  std::string remark;  ///< Of what kind it is, for people: "rule: Small operators".
  std::string_view doc;
};

/// Every meaning, in the order rule, terms, table, columns; empty where there is none. Rules may be
/// called like files ("data_loading") or by a finding's id, terms with - or _ for a blank, columns
/// with or without their unit.
std::vector<Explanation> explain(std::string_view name);

/// "'x' is no rule, term, table or column", with the nearest name.
std::string not_explained(std::string_view name);

}  // namespace fathom
