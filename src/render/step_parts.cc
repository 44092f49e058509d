// The parts of a step, in their order and colour.
#include "render/step_parts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "render/text_width.h"

namespace fathom {
namespace {

using Hue = StepPart::Hue;

std::vector<StepPart> without_empty(std::vector<StepPart> parts) {
  std::erase_if(parts, [](const StepPart& part) { return part.time <= Duration{}; });
  return parts;
}

std::vector<StepPart> device_parts(const Account& account) {
  return without_empty({
      {"compute", "compute", "█", account[Bucket::compute], Hue::good},
      {"communication", "communication", "▓", account[Bucket::communication], Hue::neutral},
      {"copies", "copies", "▒", account[Bucket::memcpy] + account[Bucket::memset], Hue::neutral},
      {"input", "input", "I", account[Bucket::input], Hue::bad},
      {"allocation", "allocation", "A", account[Bucket::allocation], Hue::bad},
      {"warmup", "warm-up", "U", account[Bucket::warm_up], Hue::bad},
      {"sync", "sync", "S", account[Bucket::sync], Hue::bad},
      {"dispatch", "dispatch", "D", account[Bucket::dispatch], Hue::bad},
      {"python", "python", "P", account[Bucket::python], Hue::bad},
      {"dependency", "dependency", "w", account[Bucket::dependency], Hue::neutral},
      {"latency", "launch latency", "l", account[Bucket::launch_latency], Hue::neutral},
      {"unknown", "unexplained", "·", account[Bucket::device_wait] + account[Bucket::host_unknown],
       Hue::neutral},
  });
}

/// More ranges than these, and smaller shares of the step, stay with the other operators.
constexpr std::size_t kMostRanges = 3;
constexpr double kLeastOfStep = 0.01;
constexpr std::size_t kRangeWidth = 24;

/// Takes the largest ranges of the program out of the other operators.
void split_ranges(const Diagnosis& diagnosis, std::vector<StepPart>& parts) {
  const auto whole = std::ranges::find(parts, "operators", &StepPart::id);
  if (whole == parts.end()) return;
  Duration all{};
  for (const StepPart& part : parts) all += part.time;
  std::vector<StepPart> ranges;
  for (const RangeTime& range : diagnosis.usual_ranges) {
    const double least = kLeastOfStep * static_cast<double>(to_ns(all));
    if (ranges.size() == kMostRanges || static_cast<double>(to_ns(range.time)) < least) break;
    const std::string name = shorten_middle(printable(range.name), kRangeWidth);
    ranges.push_back({"operators", name + " (range)", "r", range.time, Hue::good});
    whole->time -= range.time;
  }
  parts.insert(whole, ranges.begin(), ranges.end());
}

std::vector<StepPart> host_parts(const std::array<Duration, kHostBuckets>& host) {
  const auto of = [&](HostBucket bucket) { return host[static_cast<std::size_t>(bucket)]; };
  return without_empty({
      {"input", "input", "I", of(HostBucket::input), Hue::bad},
      {"forward", "forward", "█", of(HostBucket::forward), Hue::good},
      {"backward", "backward", "▓", of(HostBucket::backward), Hue::good},
      {"optimizer", "optimizer", "▒", of(HostBucket::optimizer), Hue::good},
      {"communication", "communication", "C", of(HostBucket::communication), Hue::neutral},
      {"sync", "waiting", "w", of(HostBucket::waiting), Hue::bad},
      {"operators", "other operators", "░", of(HostBucket::other_operators), Hue::good},
      {"python", "python", "P", of(HostBucket::python), Hue::bad},
      {"warmup", "warm-up", "U", of(HostBucket::warm_up), Hue::bad},
  });
}

}  // namespace

std::vector<StepPart> parts_of(const Diagnosis& diagnosis) {
  if (diagnosis.device >= 0) return device_parts(diagnosis.usual_account);
  std::vector<StepPart> parts = host_parts(diagnosis.usual_host);
  split_ranges(diagnosis, parts);
  return without_empty(std::move(parts));
}

std::vector<StepPart> parts_of(const StepAccount& step, bool on_device) {
  return on_device ? device_parts(step.account) : host_parts(step.host);
}

}  // namespace fathom
