// Opens and reads the sources of one lane.
#include "monitor/lane_run.h"

#include <utility>

namespace fathom::monitor {

LaneRun::LaneRun(Lane lane, Surroundings& surroundings, SampleSink& sink) : series_(sink) {
  for (const SourceSpec* const spec : in_order(lane, all_sources())) {
    Opened opened = open_source(*spec, surroundings, series_);
    for (Missing& missing : opened.missing) missing_.push_back(std::move(missing));
    if (!opened.source) continue;
    sources_.push_back(std::move(opened.source));
    names_.push_back(spec->name);
  }
}

void LaneRun::sample(const Tick& tick) {
  for (const std::unique_ptr<Source>& source : sources_) source->sample(tick, series_);
}

}  // namespace fathom::monitor
