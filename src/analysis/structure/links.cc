// Links activities to calls by correlation id, calls to operators by containment.
#include "analysis/structure/links.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "analysis/structure/device_owners.h"
#include "analysis/structure/enclosing_ops.h"
#include "analysis/structure/graph_replays.h"
#include "analysis/structure/launch_choice.h"
#include "analysis/util/key_index.h"
#include "store/recorded_id.h"

namespace fathom {
namespace {

constexpr double kTrust = 0.99;

std::array<bool, 256> categories_of(const Trace& trace, auto&& wanted) {
  std::array<bool, 256> selected{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i)
    selected[i] = wanted(trace.categories[i].kind);
  return selected;
}

/// Classifies the names of calls; returns the calls that carry a correlation id, in the order of
/// the file.
std::vector<SliceId> find_calls(const Trace& trace, Links& links) {
  const auto calls = categories_of(trace, is_runtime_call);
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
    if (is_recorded_id(slices.correlation[row])) numbered.push_back(SliceId(row));
  }
  return numbered;
}

/// The ids of these slices, kAbsent for those that name nothing.
std::vector<std::int64_t> ids_of(const Column<std::int64_t>& column,
                                 std::span<const SliceId> slices) {
  std::vector<std::int64_t> ids;
  ids.reserve(slices.size());
  for (const SliceId slice : slices) {
    const std::int64_t id = column[slice.row()];
    ids.push_back(is_recorded_id(id) ? id : kAbsent);
  }
  return ids;
}

/// A device activity of some correlation id, and whose calls it is offered.
struct Offered {
  StringId owner;  ///< Only this process's calls; an invalid id: everybody's.
  SliceKind kind = SliceKind::kernel;
  std::uint32_t rank = 0;
};

/// Gives each activity one of the calls that carry its correlation id.
class Matcher {
 public:
  Matcher(const Trace& trace, Links& links)
      : trace_(trace),
        links_(links),
        calls_(find_calls(trace, links)),
        rows_(links.launch.index().rows()),
        call_ids_(ids_of(trace.slices.correlation, calls_)),
        activity_ids_(ids_of(trace.slices.correlation, rows_)),
        calls_by_id_(call_ids_, kAbsent),
        activities_by_id_(activity_ids_, kAbsent),
        owners_(trace),
        choice_(trace, links) {}

  /// Activities in the order of the file.
  [[nodiscard]] const std::vector<SliceId>& rows() const { return rows_; }

  void match() {
    find_owners();
    activities_by_id_.for_each([this](std::int64_t id, std::span<const std::uint32_t> ranks) {
      load_calls(id);
      if (!group_.empty()) match_group(ranks);
    });
    count_launches_without_activity();
  }

 private:
  [[nodiscard]] auto process_of() const {
    return [this](SliceId slice) { return trace_.track(slice).process; };
  }

  void load_calls(std::int64_t id) {
    group_.clear();
    for (const std::uint32_t call : calls_by_id_.find(id)) group_.push_back(calls_[call]);
  }

  void find_owners() {
    const auto process = process_of();
    const auto other = [&](SliceId call) { return process(call) != process(calls_.front()); };
    several_ = std::ranges::any_of(calls_, other);
    if (!several_) return;
    std::vector<SliceId> activities;
    activities_by_id_.for_each([&](std::int64_t id, std::span<const std::uint32_t> ranks) {
      load_calls(id);
      activities.clear();
      for (const std::uint32_t rank : ranks) activities.push_back(rows_[rank]);
      owners_.count(group_, activities);
    });
    owners_.decide();
  }

  /// Activities and calls of one id, in the order of the file. O(n log n) in their number.
  void match_group(std::span<const std::uint32_t> ranks) {
    if (group_.size() == 1) {
      for (const std::uint32_t rank : ranks) links_.launch.by_rank()[rank] = group_.front();
      return;
    }
    if (several_) std::ranges::stable_sort(group_, {}, process_of());
    offered_.clear();
    for (const std::uint32_t rank : ranks)
      offered_.push_back({owner(rows_[rank]), trace_.kind(rows_[rank]), rank});
    const auto terms = [](const Offered& each) { return std::tuple(each.owner, each.kind); };
    std::ranges::sort(offered_, {}, terms);
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      const Offered& each = offered_[i];
      if (i == 0 || terms(offered_[i - 1]) != terms(each))
        choice_.prepare(calls_of(each.owner), each.kind);
      const Time start = trace_.slices.start[rows_[each.rank].row()];
      links_.launch.by_rank()[each.rank] = choice_.for_start(start);
    }
  }

  /// The process that the activity's device belongs to, if it made calls of the group.
  [[nodiscard]] StringId owner(SliceId activity) const {
    if (!several_) return {};
    const StringId owner = owners_.of(trace_.track(activity).process);
    return std::ranges::binary_search(group_, owner, {}, process_of()) ? owner : StringId();
  }

  [[nodiscard]] std::span<const SliceId> calls_of(StringId owner) const {
    if (!owner.valid()) return group_;
    return {std::ranges::lower_bound(group_, owner, {}, process_of()),
            std::ranges::upper_bound(group_, owner, {}, process_of())};
  }

  void count_launches_without_activity() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!starts_activity(links_.call_kind(trace_, calls_[i]))) continue;
      if (!activities_by_id_.find(call_ids_[i]).empty()) continue;
      if (links_.launches_without_activity++ == 0) links_.first_launch_without_activity = calls_[i];
    }
  }

  const Trace& trace_;
  Links& links_;
  std::vector<SliceId> calls_;  // with a correlation id
  std::vector<SliceId> rows_;
  std::vector<std::int64_t> call_ids_;
  std::vector<std::int64_t> activity_ids_;
  KeyIndex calls_by_id_;
  KeyIndex activities_by_id_;
  DeviceOwners owners_;
  LaunchChoice choice_;
  bool several_ = false;          // processes that made calls
  std::vector<SliceId> group_;    // buffers: the calls of the id
  std::vector<Offered> offered_;  // and its activities
};

void attribute_by_launch(const Trace& trace, const Nesting& nesting,
                         const std::vector<SliceId>& rows, Links& links) {
  const EnclosingOps ops(trace, nesting);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const SliceId launch = links.launch.by_rank()[rank];
    if (!launch.valid()) {
      links.attribution.by_rank()[rank] = Attribution::unattributed;
      if (links.without_launch++ == 0) links.first_without_launch = rows[rank];
      continue;
    }
    const SliceId op = ops.of(launch);
    links.op.by_rank()[rank] = op;
    links.attribution.by_rank()[rank] =
        op.valid() ? Attribution::by_launch : Attribution::no_operator;
  }
}

/// The operator that each activity's External id names, by rank; of several, the one that contains
/// the launch.
std::vector<SliceId> ops_by_external_id(const Trace& trace, const std::vector<SliceId>& rows,
                                        const Links& links) {
  const auto is_op = categories_of(trace, [](SliceKind kind) { return kind == SliceKind::cpu_op; });
  std::vector<SliceId> ops;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (is_op[trace.slices.category[row]] && is_recorded_id(trace.slices.external_id[row]))
      ops.push_back(SliceId(row));
  }
  const std::vector<std::int64_t> ids = ids_of(trace.slices.external_id, ops);
  const KeyIndex index(ids, kAbsent);
  std::vector<SliceId> found(rows.size());
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const std::int64_t id = trace.slices.external_id[rows[rank].row()];
    if (!is_recorded_id(id)) continue;
    const std::span<const std::uint32_t> named = index.find(id);
    if (named.empty()) continue;
    const SliceId around = links.op.by_rank()[rank];
    const bool contains_launch = around.valid() && trace.slices.external_id[around.row()] == id;
    found[rank] = contains_launch ? around : ops[named.front()];
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
    if (!is_recorded_id(id)) continue;
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
  // Of those that start together the lower stream is first, whatever the order of the file.
  sort_rows(std::span<SliceId>(links.activities), [&](SliceId a, SliceId b) {
    if (start[a.row()] != start[b.row()]) return start[a.row()] < start[b.row()];
    const Track& left = trace.track(a);
    const Track& right = trace.track(b);
    return std::tie(left.device, left.stream) < std::tie(right.device, right.stream);
  });
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
