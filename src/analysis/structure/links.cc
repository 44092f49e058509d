// Links activities to calls by correlation id, calls to operators by containment.
#include "analysis/structure/links.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "analysis/structure/graph_replays.h"
#include "analysis/util/key_index.h"

namespace fathom {
namespace {

constexpr double kTrust = 0.99;

std::array<bool, 256> categories_of(const Trace& trace, auto&& wanted) {
  std::array<bool, 256> selected{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i)
    selected[i] = wanted(trace.categories[i].kind);
  return selected;
}

bool is_call(SliceKind kind) { return kind == SliceKind::runtime || kind == SliceKind::driver; }

/// Classifies the names of calls; returns the calls that carry a correlation id, in the order of
/// the file.
std::vector<SliceId> find_calls(const Trace& trace, Links& links) {
  const auto calls = categories_of(trace, is_call);
  const Slices& slices = trace.slices;
  std::vector<SliceId> numbered;
  std::vector<bool> known(trace.strings.size());
  links.call_kinds.resize(trace.strings.size());
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (!calls[slices.category[row]]) continue;
    CallKind& kind = links.call_kinds[slices.name[row].row()];
    if (!known[slices.name[row].row()]) {
      known[slices.name[row].row()] = true;
      kind = classify_call(trace.text(slices.name[row]));
    }
    if (kind == CallKind::launch || kind == CallKind::graph_launch) ++links.kernel_launches;
    if (slices.correlation[row] != kAbsent) numbered.push_back(SliceId(row));
  }
  return numbered;
}

/// Chooses among the calls that carry an activity's correlation id.
class Matcher {
 public:
  Matcher(const Trace& trace, Links& links)
      : trace_(trace),
        links_(links),
        calls_(find_calls(trace, links)),
        rows_(links.launch.index().rows()) {
    correlations_.reserve(rows_.size());
    for (const SliceId row : rows_) correlations_.push_back(trace.slices.correlation[row.row()]);
  }

  /// Activities in the order of the file.
  [[nodiscard]] const std::vector<SliceId>& rows() const { return rows_; }

  void match() {
    const KeyIndex index(correlations_, kAbsent);
    find_owners(index);
    for (const SliceId call : calls_) {
      const auto started = index.find(trace_.slices.correlation[call.row()]);
      for (const std::uint32_t rank : started) offer(call, rank);
      if (started.empty() && starts_activity(links_.call_kind(trace_, call))) {
        if (links_.launches_without_activity++ == 0) links_.first_launch_without_activity = call;
      }
    }
  }

 private:
  /// With several processes in one file, correlation ids repeat. A device belongs to the process
  /// whose calls carry the ids of most of its activities.
  void find_owners(const KeyIndex& index) {
    std::map<std::pair<StringId, StringId>, std::uint64_t>
        votes;  // (device's process id, host process id)
    std::set<StringId> processes;
    for (const SliceId call : calls_) processes.insert(trace_.track(call).process);
    if (processes.size() < 2) return;
    for (const SliceId call : calls_) {
      for (const std::uint32_t rank : index.find(trace_.slices.correlation[call.row()])) {
        ++votes[{trace_.track(rows_[rank]).process, trace_.track(call).process}];
      }
    }
    std::map<StringId, std::uint64_t> best;
    for (const auto& [pair, count] : votes) {
      const auto& [device, host] = pair;
      const auto known = best.find(device);
      if (known != best.end()) {
        const bool more = count > known->second;
        const bool first = trace_.text(host) < trace_.text(owners_.at(device));
        if (!more && (count < known->second || !first)) continue;
      }
      best[device] = count;
      owners_[device] = host;
    }
  }

  [[nodiscard]] bool owned(SliceId call, SliceId activity) const {
    const auto owner = owners_.find(trace_.track(activity).process);
    return owner == owners_.end() || owner->second == trace_.track(call).process;
  }

  /// 2 when the call starts such activities, 1 when it starts something, else 0.
  [[nodiscard]] int fitness(SliceId call, SliceId activity) const {
    const CallKind kind = links_.call_kind(trace_, call);
    if (!starts_activity(kind)) return 0;
    if (kind == CallKind::graph_launch) return 2;
    const bool copies = kind == CallKind::copy || kind == CallKind::copy_blocking;
    const bool fills = kind == CallKind::fill || kind == CallKind::fill_blocking;
    switch (trace_.kind(activity)) {
      case SliceKind::memcpy:
        return copies ? 2 : 1;
      case SliceKind::memset:
        return fills ? 2 : 1;
      default:
        return kind == CallKind::launch ? 2 : 1;
    }
  }

  /// Ids that are used again: the last call that began before the activity. Of a call within a call
  /// (runtime and driver), the outer one, which is what the program called.
  [[nodiscard]] bool nearer(SliceId call, SliceId than, SliceId activity) const {
    const Slices& slices = trace_.slices;
    const Time at = slices.start[activity.row()];
    const Time a = slices.start[call.row()];
    const Time b = slices.start[than.row()];
    if ((a <= at) != (b <= at)) return a <= at;
    const auto contains = [&](SliceId outer, SliceId inner) {
      return slices.track[outer.row()] == slices.track[inner.row()] &&
             slices.start[outer.row()] <= slices.start[inner.row()] &&
             slices.end(inner) <= slices.end(outer);
    };
    if (contains(than, call)) return false;
    if (contains(call, than)) return true;
    return a <= at ? a > b : a < b;
  }

  void offer(SliceId call, std::uint32_t rank) {
    SliceId& chosen = links_.launch.by_rank()[rank];
    const SliceId activity = rows_[rank];
    if (!chosen.valid()) {
      chosen = call;
      return;
    }
    const auto key = [&](SliceId candidate) {
      return std::pair(owned(candidate, activity), fitness(candidate, activity));
    };
    const auto with = key(call);
    const auto without = key(chosen);
    if (with > without || (with == without && nearer(call, chosen, activity))) chosen = call;
  }

  const Trace& trace_;
  Links& links_;
  std::vector<SliceId> calls_;  // with a correlation id
  std::vector<SliceId> rows_;
  std::vector<std::int64_t> correlations_;
  std::map<StringId, StringId> owners_;
};

void attribute_by_launch(const Trace& trace, const Nesting& nesting,
                         const std::vector<SliceId>& rows, Links& links) {
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const SliceId launch = links.launch.by_rank()[rank];
    if (!launch.valid()) {
      links.attribution.by_rank()[rank] = Attribution::unattributed;
      if (links.without_launch++ == 0) links.first_without_launch = rows[rank];
      continue;
    }
    const SliceId op = enclosing_op(trace, nesting, launch);
    links.op.by_rank()[rank] = op;
    links.attribution.by_rank()[rank] =
        op.valid() ? Attribution::by_launch : Attribution::no_operator;
  }
}

/// The operator that each activity's External id names, by rank; of several, the one that contains
/// the launch.
std::vector<SliceId> ops_by_external_id(const Trace& trace, const std::vector<SliceId>& rows,
                                        const Links& links) {
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (const SliceId row : rows) ids.push_back(trace.slices.external_id[row.row()]);
  std::ranges::replace(ids, 0, kAbsent);  // recorders write 0 for "none"
  const KeyIndex index(ids, kAbsent);
  const auto ops = categories_of(trace, [](SliceKind kind) { return kind == SliceKind::cpu_op; });
  std::vector<SliceId> found(rows.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (!ops[trace.slices.category[row]] || trace.slices.external_id[row] == kAbsent) continue;
    for (const std::uint32_t rank : index.find(trace.slices.external_id[row])) {
      const bool contains_launch = links.op.by_rank()[rank] == SliceId(row);
      if (!found[rank].valid() || contains_launch) found[rank] = SliceId(row);
    }
  }
  return found;
}

/// External ids are believed only where they agree with containment on the activities that have
/// both.
void attribute_by_external_id(const Trace& trace, const std::vector<SliceId>& rows, Links& links) {
  const std::vector<SliceId> named = ops_by_external_id(trace, rows, links);
  std::uint64_t compared = 0;
  std::uint64_t agreed = 0;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const SliceId contained = links.op.by_rank()[rank];
    if (!links.launch.by_rank()[rank].valid() || (!contained.valid() && !named[rank].valid()))
      continue;
    const std::int64_t id = trace.slices.external_id[rows[rank].row()];
    if (id == kAbsent || id == 0) continue;
    ++compared;
    if (contained == named[rank]) ++agreed;
  }
  if (compared == 0) return;
  links.external_agreement = static_cast<double>(agreed) / static_cast<double>(compared);
  links.external_trusted = links.external_agreement >= kTrust;
  if (!links.external_trusted) return;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    if (links.launch.by_rank()[rank].valid() || !named[rank].valid()) continue;
    links.op.by_rank()[rank] = named[rank];
    links.attribution.by_rank()[rank] = Attribution::by_external;
  }
}

}  // namespace

SliceId enclosing_op(const Trace& trace, const Nesting& nesting, SliceId slice) {
  while (slice.valid() && trace.kind(slice) != SliceKind::cpu_op)
    slice = nesting.parent[slice.row()];
  return slice;
}

Links match_launches(const Trace& trace) {
  Links links;
  const auto index = std::make_shared<const ActivityIndex>(trace);
  links.launch = ActivityColumn<SliceId>(index);
  links.op = ActivityColumn<SliceId>(index);
  links.attribution = ActivityColumn<Attribution>(index);
  links.replay = ActivityColumn<std::uint32_t>(index);
  Matcher matcher(trace, links);
  matcher.match();
  number_graph_replays(trace, matcher.rows(), links);
  links.activities = matcher.rows();
  const Column<Time>& start = trace.slices.start;
  sort_rows(std::span<SliceId>(links.activities),
            [&start](SliceId a, SliceId b) { return start[a.row()] < start[b.row()]; });
  return links;
}

void attribute_to_ops(const Trace& trace, const Nesting& nesting, Links& links) {
  const std::vector<SliceId> rows = links.launch.index().rows();
  attribute_by_launch(trace, nesting, rows, links);
  if (links.without_launch > 0) attribute_by_external_id(trace, rows, links);
}

Links compute_links(const Trace& trace, const Nesting& nesting) {
  Links links = match_launches(trace);
  attribute_to_ops(trace, nesting, links);
  return links;
}

}  // namespace fathom
