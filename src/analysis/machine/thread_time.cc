// Reads the recorder's facts about the thread that steps (docs/capture-reference.md).
#include "analysis/machine/thread_time.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"

namespace fathom {
namespace {

std::optional<std::int64_t> whole(const Trace& trace, const std::string& key) {
  const Fact* const fact = trace.fact("thread_time." + key);
  if (fact == nullptr || fact->value.empty() || fact->value == "null") return {};
  const std::string text(json_unquoted(fact->value));  // capture files have texts
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  return *end == '\0' && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<ThreadTime> of_steps(const Trace& trace, const std::string& which) {
  const auto wall = whole(trace, which + ".wall_ns");
  const auto cpu = whole(trace, which + ".cpu_ns");
  if (!wall || !cpu || *wall == 0) return {};
  const auto preempted = whole(trace, which + ".preempted_ns");
  ThreadTime time;
  time.steps = whole(trace, which + ".steps").value_or(0);
  time.wall = duration_ns(*wall);
  time.computing = duration_ns(std::min(*cpu, *wall));
  time.preempted = duration_ns(std::min(preempted.value_or(0), *wall - to_ns(time.computing)));
  time.preempted_known = preempted.has_value();
  time.waiting = time.wall - time.computing - time.preempted;
  return time;
}

/// What a step waits for in a data loader is input, and no time of Python's own.
void leave_out_fetches(const Trace& trace, ThreadTime& time) {
  const std::int64_t asleep = whole(trace, "asleep").value_or(0);
  const std::int64_t fetching = std::min(whole(trace, "fetching").value_or(0), asleep);
  if (fetching == 0) return;
  const double part = static_cast<double>(fetching) / static_cast<double>(asleep);
  time.waiting -= duration_ns(std::llround(static_cast<double>(to_ns(time.waiting)) * part));
}

/// [["train.py:12 in load",14],…]
std::vector<ThreadTime::Place> places_of(const Trace& trace) {
  std::vector<ThreadTime::Place> places;
  const Fact* const fact = trace.fact("thread_time.waits");
  if (fact == nullptr) return places;
  for (const std::string_view element : json_elements(fact->value)) {
    const std::vector<std::string_view> pair = json_elements(element);
    if (pair.size() != 2) continue;
    places.push_back({std::string(json_unquoted(pair[0])),
                      std::strtoll(std::string(pair[1]).c_str(), nullptr, 10)});
  }
  return places;
}

double part(Duration time, Duration whole) {
  return static_cast<double>(to_ns(time)) / static_cast<double>(to_ns(whole));
}

}  // namespace

std::optional<ThreadTime> thread_time(const Trace& trace) {
  std::optional<ThreadTime> time = of_steps(trace, "other");
  if (!time) time = of_steps(trace, "recorded");
  if (time) leave_out_fetches(trace, *time);
  if (!time) time = of_steps(trace, "main");
  if (time) time->places = places_of(trace);
  return time;
}

std::string whole_split(const ThreadTime& time) {
  const auto percent = [&time](Duration spent) {
    return percent_text(100 * part(spent, time.wall));
  };
  std::string text =
      "computed " + percent(time.computing) + " of the time, waited " + percent(time.waiting);
  if (time.waiting > time.computing && !time.places.empty())
    text += " (most often at " + time.places[0].where + ")";
  return text + ", and was ready without a processor for " + percent(time.preempted);
}

PythonParts python_parts(const ThreadTime& time, double share) {
  PythonParts parts;
  // Operators compute: what the thread waits lies outside of them first.
  parts.waiting = std::min(share, part(time.waiting, time.wall));
  parts.preempted = std::min(share - parts.waiting, part(time.preempted, time.wall) * share);
  parts.computing = share - parts.waiting - parts.preempted;
  return parts;
}

std::string python_split(const ThreadTime& time, double share) {
  const auto [computing, waiting, preempted] = python_parts(time, share);
  std::string text =
      "computing " + percent_text(100 * computing) + ", waiting " + percent_text(100 * waiting);
  if (waiting > 0 && !time.places.empty()) text += " (most often at " + time.places[0].where + ")";
  return time.preempted_known ? text + ", preempted " + percent_text(100 * preempted) : text;
}

}  // namespace fathom
