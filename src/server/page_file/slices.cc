// Carries what the page says about single slices.
#include <algorithm>
#include <string>
#include <utility>

#include "server/page_file/parts.h"
#include "server/page_file/question.h"

namespace fathom::server {
namespace {

constexpr std::size_t kMostOfAStep = 1500;
constexpr double kShare = 0.96;

std::vector<SliceId> longest_of(const TimelineModel& model, const Interval& stretch) {
  std::vector<std::pair<Duration, SliceId>> found;
  for (const LaneTrack& track : model.lanes.tracks()) {
    for (const Lane& lane : track.lanes) {
      const auto [from, to] = lane.inside(stretch);
      for (std::size_t place = from; place < to; ++place)
        found.emplace_back(lane.duration(place), lane.slices()[place]);
    }
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.value < b.second.value;
  });
  std::vector<SliceId> longest;
  for (std::size_t i = 0; i < std::min(found.size(), kMostOfAStep); ++i)
    longest.push_back(found[i].second);
  return longest;
}

}  // namespace

void carry_slices(Carrier& carrier, OpenInput& input, const Places& places) {
  std::vector<SliceId> slices = places.slices;
  for (const Step* const step : places.steps) {
    const std::vector<SliceId> longest = longest_of(input.timeline(), step->window);
    slices.insert(slices.end(), longest.begin(), longest.end());
  }
  for (const SliceId slice : slices) {
    if (!carrier.room(kShare)) break;
    const std::string id = std::to_string(slice.value);
    carrier.keep(question("api/slice", {{"id", id}}));
    carrier.keep(question("api/flows", {{"id", id}}));
  }
  carrier.leave_out(
      "Arguments, launches and callers are here for the slices that findings name and for the "
      "longest of the median and the longest step.");
}

}  // namespace fathom::server
