// What all sources have in common: their order, and what is lost where one cannot be opened.
#include "monitor/source.h"

#include <algorithm>
#include <iterator>

namespace fathom::monitor {

std::vector<const SourceSpec*> in_order(Lane lane, std::span<const SourceSpec> sources) {
  std::vector<const SourceSpec*> ordered;
  for (const SourceSpec& spec : sources) {
    if (spec.lane == lane && spec.after.empty()) ordered.push_back(&spec);
  }
  for (const SourceSpec& spec : sources) {
    if (spec.lane != lane || spec.after.empty()) continue;
    const auto before = std::ranges::find(ordered, spec.after, &SourceSpec::name);
    ordered.insert(before == ordered.end() ? before : std::next(before), &spec);
  }
  return ordered;
}

Opened open_source(const SourceSpec& spec, Surroundings& surroundings, Series& series) {
  Opened opened = spec.open(surroundings, series);
  for (Missing& missing : opened.missing) {
    if (missing.whole_source) {
      missing.lost = spec.lost;
    } else if (missing.lost.empty()) {
      missing.lost = missing.what;
    }
  }
  return opened;
}

}  // namespace fathom::monitor
