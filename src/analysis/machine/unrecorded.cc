// Reads the lists of what was not recorded.
#include "analysis/machine/unrecorded.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "base/json_result.h"

namespace fathom {
namespace {

std::string member(const simdjson::dom::element& entry, const char* name) {
  std::string_view text;
  return entry[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

}  // namespace

std::vector<Unrecorded> unrecorded(const Trace& trace) {
  std::vector<Unrecorded> found;
  simdjson::dom::parser parser;
  for (const Fact& fact : trace.facts) {
    if (!fact.key.ends_with("not_recorded")) continue;
    simdjson::dom::array entries;
    if (!get_json(parser.parse(fact.value), entries)) continue;
    for (const simdjson::dom::element entry : entries) {
      Unrecorded lost{.what = member(entry, "what"),
                      .why = member(entry, "why"),
                      .lost = member(entry, "lost"),
                      .remedy = member(entry, "remedy")};
      const auto same = std::ranges::find_if(found, [&](const Unrecorded& known) {
        return known.what == lost.what && known.why == lost.why;
      });
      if (same == found.end() && !lost.what.empty()) found.push_back(std::move(lost));
    }
  }
  const Fact* const telemetry = trace.fact("telemetry.missing");
  for (Unrecorded& lost : found) {
    lost.machine = telemetry != nullptr && telemetry->value.find(lost.what) != std::string::npos;
  }
  return found;
}

}  // namespace fathom
