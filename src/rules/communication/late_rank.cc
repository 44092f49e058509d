// late-rank: collectives that take far longer than what they transfer, because a rank came late.
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/rule.h"

namespace fathom {
namespace late_rank_rule {
namespace {

constexpr std::string_view kDoc =
    "A collective starts to transfer when its last rank arrives; the others wait inside it. One "
    "rank's trace shows that as calls that take over twice as long as the shortest of at least "
    "three calls of the same name and size, which is assumed to be what the transfer needs. Where "
    "all of them wait, or there are fewer, a call counts for what it takes above 1 ms and its "
    "bytes, sent twice, at 10 Gbit/s, the slowest network usual for training. Fires when at least "
    "two calls waited, from 5 % of the step; warns from 10 %, is critical from 20 %. One rank's "
    "trace does not show which rank is late, nor separate waiting from a busy or slower network: "
    "the traces of all ranks do. Sources: the former TensorBoard plugin and TraceLens (transfer "
    "time is the shortest duration over ranks); TraceML's straggler score (10 and 20 %).";

constexpr double kLeastPercent = 5.0;
constexpr std::size_t kFewestCalls = 3;
constexpr std::size_t kFewestLate = 2;
/// A call that takes longer than this multiple of the shortest waited.
constexpr double kWaits = 2.0;
/// The slowest usual network, and how often a ring sends each byte through one link.
constexpr double kSlowestBytesPerSecond = 1.25e9;
constexpr double kSent = 2.0;
constexpr Duration kLongestLatency = duration_ns(1'000'000);

/// The quickest: NVLink of an H100, and a collective's latency on it.
constexpr double kFastestBytesPerSecond = 450e9;
constexpr Duration kShortestLatency = duration_ns(10'000);

/// Waiting below this is start-up skew of kernels, not a late rank.
constexpr Duration kLeastWait = duration_ns(20'000);

/// What the main thread does while it waits for a collective on another thread.
constexpr std::initializer_list<HostBucket> kWaiting = {HostBucket::communication,
                                                        HostBucket::waiting, HostBucket::python};

using Calls = std::vector<CollectiveCall>;

struct Found {
  std::vector<SliceId> late;
  std::vector<Claim> claims;
  std::vector<std::pair<SliceId, float>> scale;
  // Without a device; calls of several threads may overlap.
  std::vector<Interval> waits;
  std::vector<Interval> likely_waits;
  RemovedTime removed;
  Duration waited{};
  Duration shortest{};    // Transfer of the group that waits most,
  Duration longest{};     // its longest call,
  std::string_view name;  // and its name.
  Duration most{};
  bool by_link = false;
  explicit Found(const RuleContext& rules) : removed(rules) {}
};

/// What the transfer itself takes.
struct Transfer {
  Duration longest{};
  Duration likely{};
  Duration shortest{};
};

/// By the links there are: between the slowest usual network and the quickest, likely the geometric
/// middle, for not even its order of magnitude is known. Duration::max() where the size is not.
Transfer transfer_by_link(std::int64_t bytes) {
  if (bytes <= 0) return {.longest = Duration::max(), .likely = {}, .shortest = {}};
  const double sent = kSent * static_cast<double>(bytes) * 1e9;
  const auto slow = static_cast<double>(to_ns(kLongestLatency)) + sent / kSlowestBytesPerSecond;
  const auto fast = static_cast<double>(to_ns(kShortestLatency)) + sent / kFastestBytesPerSecond;
  const auto whole = [](double ns) { return duration_ns(static_cast<std::int64_t>(ns)); };
  return {.longest = whole(slow), .likely = whole(std::sqrt(slow * fast)), .shortest = whole(fast)};
}

/// Blames one call for waiting before its transfer.
void blame(const RuleContext& rules, SliceId call, const Transfer& transfer, Found& found) {
  const Trace& trace = rules.trace();
  found.late.push_back(call);
  const Duration length = trace.slices.duration[call.row()];
  found.scale.emplace_back(call, static_cast<float>(static_cast<double>(to_ns(transfer.likely)) /
                                                    static_cast<double>(to_ns(length))));
  if (rules.device < 0) {
    const Interval whole = interval_of(trace, call);
    found.waits.push_back({whole.begin, whole.end - transfer.shortest});
    found.likely_waits.push_back({whole.begin, whole.end - transfer.likely});
    return;
  }
  const Duration exposed =
      std::min(length - transfer.shortest, rules.accounting.credited[call.row()]);
  found.waited += exposed;
  found.claims.push_back({.slice = call, .time = exposed});
}

void look_at_group(const RuleContext& rules, std::span<const CollectiveCall> group, Found& found) {
  const auto length = [&rules](const CollectiveCall& call) {
    return rules.trace().slices.duration[call.slice.row()];
  };
  const auto [low, high] = std::ranges::minmax_element(group, {}, length);
  const Transfer by_link = transfer_by_link(group.front().bytes);
  const bool use_link = group.size() < kFewestCalls || length(*low) > by_link.longest;
  const Transfer transfer =
      use_link
          ? by_link
          : Transfer{.longest = length(*low), .likely = length(*low), .shortest = length(*low)};
  if (transfer.longest == Duration::max()) return;
  const double limit = static_cast<double>(to_ns(transfer.longest)) * (use_link ? 1.0 : kWaits);
  Duration waited{};
  for (const CollectiveCall& call : group) {
    const Duration wait = length(call) - transfer.longest;
    if (wait < kLeastWait || static_cast<double>(to_ns(length(call))) <= limit) continue;
    waited += wait;
    blame(rules, call.slice, transfer, found);
  }
  if (waited <= found.most) return;
  found.most = waited;
  found.shortest = transfer.longest;
  found.longest = length(*high);
  found.name = rules.trace().name(low->slice);
  found.by_link = use_link;
}

Found look(const RuleContext& rules, Calls& calls) {
  const auto key = [&rules](const CollectiveCall& call) {
    return std::pair(rules.trace().name(call.slice), call.size);
  };
  std::ranges::stable_sort(calls, {}, key);
  Found found(rules);
  for (auto first = calls.begin(); first != calls.end();) {
    const auto last = std::find_if(
        first, calls.end(), [&](const CollectiveCall& call) { return key(call) != key(*first); });
    look_at_group(rules, {first, last}, found);
    first = last;
  }
  for (const Interval& wait : merged(std::move(found.waits))) {
    found.waited += claim_main_thread(rules, wait, kWaiting, found.claims);
  }
  for (const Interval& wait : merged(std::move(found.likely_waits))) {
    found.removed.add(wait, kWaiting);
  }
  return found;
}

Finding make(const RuleContext& rules, Found& found) {
  Finding finding;
  finding.title = "Collectives wait for a rank that comes late: " + per_step(rules, found.waited);
  finding.family = Family::straggler;
  finding.weight = weight_of(rules, found.waited);
  finding.confidence = found.by_link ? Confidence::low : Confidence::medium;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(
      rules, found.late,
      counted_noun(found.late.size(), "call") + " that waited; " + std::string(found.name) +
          " takes up to " + duration_text(found.longest) +
          (found.by_link ? ", a network of 10 Gbit/s would need " : ", the shortest equal one ") +
          duration_text(found.shortest)));
  finding.counter_evidence =
      "This rank's trace alone does not show which rank is late, nor separate waiting from a busy "
      "network or a queue on this device. This rank may even be the one that is early for good "
      "reason.";
  finding.fix = {
      .text =
          "Record all ranks at the same steps and look at the one that enters the collectives "
          "last. Then give each rank the same work: batches by length instead of by count, parts "
          "of the model that are balanced, the same clocks and neighbours on each host. What one "
          "rank does alone (logging, saving, evaluating) the others wait for: do it in the "
          "background, or on each rank.",
      .before = "",
      .after = ""};
  finding.verify = "fathom kernels TRACE --filter class=communication";
  if (rules.device < 0) finding.verify = "fathom ops TRACE --filter 'name~all'";
  finding.claims = std::move(found.claims);
  finding.edits.scale = std::move(found.scale);
  found.removed.to(finding.edits);
  finding.assumption =
      "every rank arrives at the same time; the transfer takes as long as the shortest equal "
      "call, or by the links there are: between a network of 10 Gbit/s and NVLink, likely the "
      "geometric middle";
  finding.pessimism = 0.3;
  return finding;
}

Outcome check(const RuleContext& rules) {
  Calls calls = collective_calls(rules);
  if (calls.empty() || !has_peers(rules)) return std::vector<Finding>{};
  std::erase_if(calls, [](const CollectiveCall& call) { return call.size == 0; });
  if (calls.empty()) {
    return not_recorded(rules, "the sizes of collectives were not recorded", "record_shapes=True");
  }
  Found found = look(rules, calls);
  if (found.late.size() < kFewestLate || rules.percent(found.waited) < kLeastPercent) {
    return std::vector<Finding>{};
  }
  std::vector<Finding> findings;
  findings.push_back(make(rules, found));
  return findings;
}

}  // namespace
}  // namespace late_rank_rule

Rule late_rank() {
  return {.id = "late-rank",
          .title = "Collectives that wait for a late rank",
          .doc = late_rank_rule::kDoc,
          .check = late_rank_rule::check};
}

}  // namespace fathom
