// Reads the lists of what was not recorded.
#include "analysis/machine/unrecorded.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json_entries.h"

namespace fathom {
namespace {

std::string member(const JsonEntry& entry, std::string_view name) {
  const auto at = entry.find(name);
  return at == entry.end() ? std::string() : at->second;
}

}  // namespace

std::vector<Unrecorded> unrecorded(const Trace& trace) {
  std::vector<Unrecorded> found;
  for (const Fact& fact : trace.facts) {
    if (!fact.key.ends_with("not_recorded")) continue;
    for (const JsonEntry& entry : json_entries(fact.value)) {
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
