// Reads lists of objects.
#include "base/json_entries.h"

#include <simdjson.h>

#include "base/json_result.h"

namespace fathom {

std::vector<JsonEntry> json_entries(std::string_view json) {
  std::vector<JsonEntry> found;
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (!get_json(parser.parse(json.data(), json.size()), entries)) return found;
  for (const simdjson::dom::element each : entries) {
    simdjson::dom::object object;
    if (each.get(object) != simdjson::SUCCESS) continue;
    JsonEntry& entry = found.emplace_back();
    for (const auto& [key, value] : object) {
      std::string_view text;
      if (value.get(text) == simdjson::SUCCESS) entry.emplace(key, text);
    }
  }
  return found;
}

std::string member_of(const JsonEntry& entry, std::string_view name) {
  const auto at = entry.find(name);
  return at == entry.end() ? std::string() : at->second;
}

}  // namespace fathom
