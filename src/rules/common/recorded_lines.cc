// Sums the timeline of lines that lies in given stretches by line.
#include "rules/common/recorded_lines.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/lines/line_runs.h"
#include "analysis/structure/stretches.h"
#include "base/base_name.h"
#include "base/quantity_text.h"
#include "rules/common/evidence.h"

namespace fathom {
namespace {

struct InLine {
  Duration time{};
  Interval longest{};
};

const LineRuns::Thread* lines_of(const RuleContext& rules, TrackId track) {
  const LineRuns* const lines = rules.sites.lines();
  return lines == nullptr ? nullptr : lines->of(track);
}

}  // namespace

bool has_lines(const RuleContext& rules, TrackId track) {
  return lines_of(rules, track) != nullptr;
}

std::optional<Evidence> recorded_line(const RuleContext& rules, std::vector<Interval> stretches,
                                      TrackId track) {
  const LineRuns::Thread* const thread = lines_of(rules, track);
  if (thread == nullptr) return std::nullopt;
  std::map<StringId, InLine> found;
  Duration whole{};
  for (const Interval& stretch : merged(std::move(stretches))) {
    thread->each_part(stretch, [&](const Interval& part, StringId statement) {
      const Duration time = rules.counted(part);
      whole += time;
      if (!statement.valid() || time <= Duration{}) return;
      InLine& line = found[statement];
      line.time += time;
      if (part.length() > line.longest.length()) line.longest = part;
    });
  }
  if (found.empty()) return std::nullopt;
  const auto most =
      std::ranges::max_element(found, {}, [](const auto& line) { return line.second.time; });
  const StatementName name = statement_name(rules.trace().text(most->first));
  const double share =
      static_cast<double>(to_ns(most->second.time)) / static_cast<double>(to_ns(whole));
  Evidence evidence;
  evidence.location = rules.sites.place_of(most->first);
  evidence.where = most->second.longest;
  evidence.text = "by recorded lines, " + std::string(base_name(name.file)) + ":" +
                  std::to_string(name.first) + " in " + std::string(name.function) + " has " +
                  per_step(rules, most->second.time) + ", " + percent_text(100 * share) +
                  " of this time";
  return evidence;
}

}  // namespace fathom
