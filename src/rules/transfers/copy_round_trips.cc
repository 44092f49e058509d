// copy-round-trips: what goes to the host comes back.
#include <map>

#include "analysis/structure/stretches.h"
#include "rules/common/claims.h"
#include "rules/common/evidence.h"
#include "rules/common/host_copies.h"
#include "rules/rule.h"

namespace fathom {
namespace copy_round_trips_rule {
namespace {

constexpr std::string_view kDoc =
    "Data that is copied to the host and then to the device again was most likely worked on by the "
    "host meanwhile (NumPy, lists, a function without a kernel): the device waits for two copies "
    "and for the host. Traces do not identify tensors, so a round trip is a copy to the host that "
    "is followed, within 10 ms and in the same step, by a copy of equally many bytes (at least "
    "256) that was launched after it ended. Counted are both copies, as far as nothing else runs, "
    "and the idle time between them. Fires from 1 % of the step. Source: CUDA C++ Best Practices "
    "Guide (keep intermediate data on the device).";

constexpr double kLeastPercent = 1.0;
constexpr std::int64_t kLeastBytes = 256;
constexpr Duration kShortly = duration_ns(10'000'000);

struct Trip {
  HostCopy down;
  HostCopy up;
};

std::vector<Trip> look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::map<std::int64_t, HostCopy> down;  // The last copy to the host, by its size.
  std::vector<Trip> trips;
  for (const HostCopy& copy : host_copies(rules)) {
    if (copy.bytes < kLeastBytes) continue;
    if (copy.kind == CopyKind::d2h) {
      down[copy.bytes] = copy;
      continue;
    }
    const auto before = down.find(copy.bytes);
    if (before == down.end() || !copy.launch.valid()) continue;
    const Time returned = trace.slices.end(before->second.activity);
    const Time launched = trace.slices.start[copy.launch.row()];
    const Time began = trace.slices.start[before->second.activity.row()];
    if (launched >= returned && launched - returned <= kShortly &&
        rules.step_at(began) == rules.step_at(launched)) {
      trips.push_back({.down = before->second, .up = copy});
    }
    down.erase(before);
  }
  return trips;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Trace& trace = rules.trace();
  const std::vector<Trip> trips = look(rules);
  Finding finding;
  std::vector<Interval> between;
  std::vector<HostCopy> ups;
  for (const Trip& trip : trips) {
    for (const HostCopy& copy : {trip.down, trip.up}) {
      finding.claims.push_back(claim(rules, copy.activity));
      finding.edits.scale.emplace_back(copy.activity, 0.0F);
      if (copy.launch.valid()) finding.edits.no_wait.push_back(copy.launch);
    }
    between.push_back(
        {trace.slices.end(trip.down.activity), trace.slices.start[trip.up.activity.row()]});
    ups.push_back(trip.up);
  }
  for (const Interval& stretch : merged(std::move(between))) {
    claim_idle(rules, stretch, kHostLate, finding.claims);
  }
  const Duration time = total(finding.claims);
  if (trips.empty() || rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title = "Data goes to the host and comes back: " + per_step(rules, time);
  finding.family = Family::transfer;
  finding.weight = weight_of(rules, time, 5, 15);
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(
      evidence_of(rules, ups,
                  counted_noun(trips.size(), "round trip") +
                      ": a copy to the host, then one of the same size to the device; back "
                      "go " +
                      volume_text(ups)));
  finding.counter_evidence =
      "Only the sizes are known to be equal: results that go to the host and the next input of "
      "the same size look alike.";
  finding.fix = {
      .text =
          "Do that step on the device (torch has most of NumPy; else a custom operator), so "
          "that the data stays there; where it must leave, use pinned memory and work on "
          "something else meanwhile.",
      .before = "x = torch.from_numpy(f(x.cpu().numpy())).to(device)",
      .after = "x = f_of_tensors(x)"};
  finding.verify = "fathom copies TRACE";
  finding.assumption = "neither copy is needed, and what the host did between costs nothing";
  finding.pessimism = 0.2;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace copy_round_trips_rule

Rule copy_round_trips() {
  return {.id = "copy-round-trips",
          .title = "Data goes to the host and comes back",
          .doc = copy_round_trips_rule::kDoc,
          .check = copy_round_trips_rule::check};
}

}  // namespace fathom
