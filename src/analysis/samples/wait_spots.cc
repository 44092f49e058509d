// Sums the time for which threads were blocked.
#include "analysis/samples/wait_spots.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

/// Function, file, line; of a thread without Python its name.
using Place = std::tuple<StringId, StringId, std::int32_t>;

Place place_of(const Trace& trace, const StackSample& sample, std::uint32_t frame) {
  if (frame == kNoFrame) return {sample.thread, StringId{}, -2};
  const StackFrame& at = trace.stack_frames[frame];
  return {at.function, at.file, at.line};
}

/// The waits at one place.
struct AtPlace {
  std::uint32_t frame = kNoFrame;
  StringId thread{};
  Duration blocked{};
};

struct Sum {
  std::map<Place, AtPlace> places;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  std::set<StringId> objects;
  Duration blocked{};
  std::uint64_t samples = 0;
};

}  // namespace

std::vector<WaitSpot> wait_spots(const Trace& trace, const StackRoles& roles, WaitBy by) {
  std::map<std::tuple<WaitClass, StringId, Place>, Sum> sums;
  for (const StackSample& sample : trace.stack_samples) {
    if (sample.blocked <= Duration{}) continue;
    const std::uint32_t frame = roles.user_frame(sample.frame);
    const Place place = place_of(trace, sample, frame);
    Sum& sum = sums[{roles.wait_of(sample), by == WaitBy::cause ? StringId{} : sample.object,
                     by == WaitBy::place ? place : Place{}}];
    AtPlace& at = sum.places[place];
    at.frame = frame;
    at.thread = sample.thread;
    at.blocked += sample.blocked;
    sum.objects.insert(sample.object);
    sum.threads.emplace(sample.pid, sample.tid);
    sum.blocked += sample.blocked;
    ++sum.samples;
  }
  std::vector<WaitSpot> spots;
  spots.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    const AtPlace& most = std::ranges::max_element(sum.places, {}, [](const auto& entry) {
                            return entry.second.blocked;
                          })->second;
    spots.push_back({.wait = std::get<WaitClass>(key),
                     .object = sum.objects.size() == 1 ? *sum.objects.begin() : StringId{},
                     .frame = most.frame,
                     .thread = most.thread,
                     .blocked = sum.blocked,
                     .threads = sum.threads.size(),
                     .samples = sum.samples});
  }
  std::ranges::stable_sort(spots, std::ranges::greater(), &WaitSpot::blocked);
  return spots;
}

}  // namespace fathom
