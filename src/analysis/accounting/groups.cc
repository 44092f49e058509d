// Sums credited and idle time by step, phase, module or kernel class.
#include "analysis/accounting/groups.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/accounting/credit.h"

namespace fathom {
namespace {

/// Sums by key.
class Sums {
 public:
  Sums(AccountBy by, std::span<const AccountWindow> windows)
      : by_step_(by == AccountBy::step), windows_(windows) {}

  /// Calls add(group, duration) for the parts of `interval` in windows.
  template <typename Add>
  void add(Interval interval, std::uint32_t key, const Add& add) {
    const auto ended = [&](const AccountWindow& window) {
      return window.interval.end <= interval.begin;
    };
    auto window = std::ranges::partition_point(windows_, ended);
    for (; window != windows_.end() && window->interval.begin < interval.end; ++window) {
      const Duration part = std::min(window->interval.end, interval.end) -
                            std::max(window->interval.begin, interval.begin);
      if (part <= Duration{}) continue;
      add(group(by_step_ ? static_cast<std::uint32_t>(window - windows_.begin()) : key), part);
    }
  }

  std::vector<AccountGroup> take() {
    std::ranges::sort(groups_, {}, &AccountGroup::key);
    return std::move(groups_);
  }

 private:
  AccountGroup& group(std::uint32_t key) {
    const auto [at, added] = rows_.try_emplace(key, groups_.size());
    if (added) groups_.push_back({.key = key, .time = {}, .host = {}});
    return groups_[at->second];
  }

  bool by_step_;
  std::span<const AccountWindow> windows_;
  std::unordered_map<std::uint32_t, std::size_t> rows_;
  std::vector<AccountGroup> groups_;
};

std::uint32_t number(Phase phase) { return static_cast<std::uint32_t>(phase); }

/// The call or operator that stands for an activity on the host, or invalid.
SliceId host_of(const Context& context, SliceId activity) {
  const SliceId launch = context.links().launch[activity.row()];
  return launch.valid() ? launch : context.links().op[activity.row()];
}

/// A range around the passes is a group of its own, as far as no phase is known of what is in it.
std::uint32_t key_of(const Phases& phases, Phase phase, SliceId host) {
  if (phase != Phase::other || !host.valid()) return number(phase);
  const std::size_t range = phases.range(host);
  return range == Phases::kNoRange ? number(phase) : static_cast<std::uint32_t>(kPhases + range);
}

std::uint32_t key_of_activity(const Context& context, SliceId activity) {
  return key_of(context.phases(), phase_of_activity(context, activity), host_of(context, activity));
}

std::uint32_t module_of(const Context& context, SliceId host) {
  return host.valid() ? context.modules()[host] : Modules::kTop;
}

std::uint32_t busy_key(const Context& context, AccountBy by, SliceId activity) {
  switch (by) {
    case AccountBy::phase:
      return key_of_activity(context, activity);
    case AccountBy::module:
      return module_of(context, host_of(context, activity));
    case AccountBy::kernel_class:
      if (context.timelines().busy_kind(context.trace, activity) != Busy::compute) return kNoClass;
      return class_key(context.timelines().traits_of(context.trace, activity));
    default:
      return 0;
  }
}

std::uint32_t idle_key(const Context& context, AccountBy by, const Gap& gap, Bucket cause) {
  switch (by) {
    case AccountBy::phase:
      if (cause == Bucket::input) return number(Phase::data);
      return gap.next.valid() ? key_of_activity(context, gap.next) : number(Phase::other);
    case AccountBy::module:
      // Modules do not fetch data.
      if (cause == Bucket::input || !gap.next.valid()) return Modules::kTop;
      return module_of(context, host_of(context, gap.next));
    case AccountBy::kernel_class:
      return kNoClass;
    default:
      return 0;
  }
}

std::uint32_t key_of_piece(const Context& context, const HostPiece& piece) {
  if (piece.bucket == HostBucket::input) return number(Phase::data);
  const Phase phase = piece.op.valid() ? context.phases()[piece.op] : Phase::other;
  return key_of(context.phases(), phase, piece.op);
}

}  // namespace

Phase phase_of_activity(const Context& context, SliceId activity) {
  if (context.timelines().busy_kind(context.trace, activity) == Busy::communication) {
    return Phase::communication;
  }
  const SliceId host = host_of(context, activity);
  return host.valid() ? context.phases()[host] : Phase::other;
}

std::vector<AccountGroup> group_device(const Context& context, std::int32_t device, AccountBy by,
                                       std::span<const AccountWindow> windows) {
  Sums sums(by, windows);
  const auto add = [&](Interval interval, std::uint32_t key, Bucket bucket) {
    sums.add(interval, key, [bucket](AccountGroup& group, Duration part) {
      group.time.time[static_cast<std::size_t>(bucket)] += part;
    });
  };
  const Timelines& timelines = context.timelines();
  const DeviceTimeline* const timeline = timelines.find(device);
  const DeviceAccounting* const idle = context.accounting().find(device);
  if (timeline == nullptr || idle == nullptr) return {};
  for_each_credit(context.trace, timelines, *timeline, [&](SliceId activity, Interval interval) {
    const auto bucket = static_cast<Bucket>(timelines.busy_kind(context.trace, activity));
    add(interval, busy_key(context, by, activity), bucket);
  });
  for (const IdlePiece& piece : idle->pieces) {
    add(piece.interval, idle_key(context, by, idle->gaps[piece.gap], piece.cause), piece.cause);
  }
  return sums.take();
}

std::vector<AccountGroup> group_main_thread(const Context& context, AccountBy by,
                                            std::span<const AccountWindow> windows) {
  Sums sums(by, windows);
  for (const HostPiece& piece : context.accounting().host) {
    std::uint32_t key = 0;
    if (by == AccountBy::phase) key = key_of_piece(context, piece);
    if (by == AccountBy::module) key = module_of(context, piece.op);
    sums.add(piece.interval, key, [&](AccountGroup& group, Duration part) {
      group.host[static_cast<std::size_t>(piece.bucket)] += part;
    });
  }
  return sums.take();
}

}  // namespace fathom
