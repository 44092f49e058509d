// Reads the lists of what was not recorded.
#include "analysis/machine/unrecorded.h"

#include <set>
#include <string>
#include <utility>

#include "base/json_entries.h"

namespace fathom {

std::vector<Unrecorded> unrecorded(const Trace& trace) {
  std::vector<Unrecorded> found;
  std::set<std::pair<std::string, std::string>> said;
  for (const Fact& fact : trace.facts) {
    if (!fact.key.ends_with("not_recorded")) continue;
    for (const JsonEntry& entry : json_entries(fact.value)) {
      Unrecorded lost{.what = member_of(entry, "what"),
                      .why = member_of(entry, "why"),
                      .lost = member_of(entry, "lost"),
                      .remedy = member_of(entry, "remedy")};
      if (lost.what.empty() || !said.emplace(lost.what, lost.why).second) continue;
      found.push_back(std::move(lost));
    }
  }
  const Fact* const telemetry = trace.fact("telemetry.missing");
  for (Unrecorded& lost : found) {
    lost.machine = telemetry != nullptr && telemetry->value.find(lost.what) != std::string::npos;
  }
  return found;
}

}  // namespace fathom
