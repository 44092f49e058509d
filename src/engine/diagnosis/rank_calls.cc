// Collects the collectives of one rank's counted steps.
#include "engine/diagnosis/rank_calls.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "analysis/structure/from_outside.h"
#include "analysis/structure/stretches.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"

namespace fathom {
namespace {

/// What the main thread does while a collective holds it up.
constexpr std::initializer_list<HostBucket> kHeldUp = {HostBucket::communication,
                                                       HostBucket::waiting, HostBucket::python};

const Collective* detail_of(const Trace& trace, SliceId slice) {
  const auto at = std::ranges::lower_bound(trace.collectives, slice, {}, &Collective::slice);
  return at != trace.collectives.end() && at->slice == slice ? &*at : nullptr;
}

std::string_view text_of(const Trace& trace, StringId id) {
  return id.valid() ? trace.text(id) : std::string_view();
}

bool exchanges_with_all(std::string_view name) {
  return name.find("alltoall") != std::string_view::npos ||
         name.find("all_to_all") != std::string_view::npos;
}

/// Between two ranks only. Of a kernel named after both directions, the recorded name decides.
bool is_message(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (exchanges_with_all(lower)) return false;
  return lower.find("send") != std::string::npos || lower.find("recv") != std::string::npos;
}

/// NCCL runs messages and exchanges of all ranks with the same kernel. Without metadata, what
/// launched it distinguishes them; between two ranks they are one.
bool takes_all_ranks(const RuleContext& rules, const FromOutside& notes, SliceId slice) {
  const std::optional<Distributed>& said = rules.trace().distributed;
  if (said && said->world_size == 2) return true;
  const SliceId host = rules.device >= 0 ? rules.context.links().op[slice.row()] : slice;
  const auto exchanges = [&](SliceId at) { return exchanges_with_all(rules.trace().name(at)); };
  return innermost_around(notes, rules.context.nesting().parent, host, exchanges).valid();
}

/// The size is no part of it: an exchange of uneven parts differs between ranks.
std::uint64_t key_of(const Trace& trace, const Collective* detail, CollectiveKind kind) {
  std::string text(to_string(kind));
  if (detail != nullptr) {
    const std::string_view ranks = text_of(trace, detail->ranks);
    text += " ";
    text += ranks.empty() ? text_of(trace, detail->group_name) : ranks;
  }
  return std::hash<std::string>()(text);
}

Duration exposed_of(const RuleContext& rules, SliceId slice, std::vector<Claim>& unused) {
  if (rules.device >= 0) return rules.accounting.credited[slice.row()];
  unused.clear();
  return claim_main_thread(rules, interval_of(rules.trace(), slice), kHeldUp, unused);
}

/// Of all together: without a device, calls of several threads may lie beside each other.
Duration all_exposed(const RuleContext& rules, const std::vector<CollectiveCall>& calls,
                     std::vector<Claim>& unused) {
  Duration sum{};
  std::vector<Interval> stretches;
  for (const CollectiveCall& call : calls) {
    if (rules.device >= 0) {
      sum += rules.accounting.credited[call.slice.row()];
    } else {
      stretches.push_back(interval_of(rules.trace(), call.slice));
    }
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    unused.clear();
    sum += claim_main_thread(rules, stretch, kHeldUp, unused);
  }
  return sum;
}

}  // namespace

RankCalls rank_calls(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::vector<CollectiveCall> all = collective_calls(rules);
  RankCalls result;
  std::vector<Claim> unused;
  result.exposed = all_exposed(rules, all, unused);
  std::ranges::stable_sort(all, {}, [&trace](const CollectiveCall& call) {
    return trace.slices.start[call.slice.row()];
  });
  FromOutside notes;
  notes.resize(trace.slices.size());
  for (const CollectiveCall& call : all) {
    const Collective* const detail = detail_of(trace, call.slice);
    const bool named = detail != nullptr && detail->name.valid();
    const std::string_view name = named ? trace.text(detail->name) : trace.name(call.slice);
    const Step* const step = rules.step_at(trace.slices.start[call.slice.row()]);
    if (step == nullptr) continue;
    if (is_message(name) && (named || !takes_all_ranks(rules, notes, call.slice))) {
      ++result.messages;
      continue;
    }
    result.calls.push_back({.step = step->number,
                            .key = key_of(trace, detail, collective_kind(name)),
                            .length = trace.slices.duration[call.slice.row()],
                            .exposed = exposed_of(rules, call.slice, unused)});
  }
  std::ranges::stable_sort(result.calls, {},
                           [](const RankCall& call) { return std::pair(call.step, call.key); });
  return result;
}

}  // namespace fathom
