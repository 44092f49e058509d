// Lists in JSON whose entries are objects of texts, as facts of recordings are.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

using JsonEntry = std::map<std::string, std::string, std::less<>>;

/// Of each object in the array its members that are texts. Nothing of what is no array.
std::vector<JsonEntry> json_entries(std::string_view json);

/// That member, or "".
std::string member_of(const JsonEntry& entry, std::string_view name);

}  // namespace fathom
