// Finds the events that two recordings share, and the distance of their clocks.
#include "store/same_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "store/profiler_step.h"

namespace fathom {
namespace {

/// Two recorders' roundings of one moment and of one duration: Kineto wrote whole microseconds.
constexpr std::int64_t kJitterNs = 1'500;
/// Two recorders' roundings of one moment where neither wrote whole microseconds …
constexpr std::int64_t kFineNs = 600;
/// … and how many times what was found so, where that is more.
constexpr std::int64_t kWider = 3;
/// Candidates of one event that may vote; of a thousand equal kernels, the nearest say enough.
constexpr std::size_t kVotes = 16;
/// Candidates that one event is compared with when it is paired.
constexpr std::size_t kLooks = 64;
/// The widest that two records of one range may lie apart.
constexpr std::int64_t kWidestJitterNs = 100'000;
/// The farthest that clocks of one machine are taken to differ, ns.
constexpr std::int64_t kFarthestNs = 10'000'000'000;

/// So near to what the other recorded, the base's work may be the same by a wrong clock.
constexpr std::int64_t kBesideNs = 1'000'000;
constexpr std::string_view kOfProcess = " of process ";

enum class Family : std::uint8_t { none, activity, call, range };

Family family_of(SliceKind kind) {
  if (is_device_activity(kind)) return Family::activity;
  if (is_runtime_call(kind)) return Family::call;
  return kind == SliceKind::user_annotation ? Family::range : Family::none;
}

/// Where an event lies: a stream of a device, or a thread of a process; and what it is.
using Key = std::tuple<Family, std::int64_t, std::int64_t, std::uint32_t>;

struct Event {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t correlation = kAbsent;
  std::uint32_t row = 0;
};
using Events = std::map<Key, std::vector<Event>>;

class Finder {
 public:
  Finder(const Trace& base, const Trace& other, Duration shift, std::int64_t error_ns)
      : base_(base),
        other_(other),
        shift_(to_ns(shift)),
        error_(std::max<std::int64_t>(error_ns, 0)) {}

  SameWork run() {
    found_.twin.assign(other_.slices.size(), SameWork::kNew);
    found_.doubtful.assign(other_.slices.size(), false);
    has_twin_.assign(base_.slices.size(), false);
    compare_processes();
    if (found_.same_process) {
      collect(other_, shift_, nullptr, theirs_);
      for (const auto& [key, events] : theirs_)
        wanted_[static_cast<std::size_t>(std::get<0>(key))] = true;
      collect(base_, 0, &theirs_, ours_);
      for (const Family family : {Family::activity, Family::call, Family::range}) pair_up(family);
      doubt();
    }
    name_correlations();
    return std::move(found_);
  }

 private:
  static std::set<std::int64_t> pids_of(const Trace& trace, bool calls) {
    std::set<std::int64_t> pids;
    std::vector<bool> seen(trace.tracks.size());
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      const std::size_t track = trace.slices.track[row].row();
      const SliceKind kind = trace.kind(SliceId(row));
      if (seen[track] || (calls && family_of(kind) != Family::call)) continue;
      if (trace.tracks[track].kind != TrackKind::host_thread) continue;
      seen[track] = true;
      pids.insert(trace.tracks[track].pid);
    }
    return pids;
  }

  /// Work of a device names no process; the calls and threads beside it do.
  void compare_processes() {
    std::set<std::int64_t> ours = pids_of(base_, true);
    std::set<std::int64_t> theirs = pids_of(other_, true);
    if (ours.empty() || theirs.empty()) ours = pids_of(base_, false);
    if (theirs.empty()) theirs = pids_of(other_, false);
    if (theirs.size() == 1) found_.other_pid = *theirs.begin();
    found_.same_process = ours.empty() || theirs.empty() ||
                          std::ranges::any_of(theirs, [&](auto pid) { return ours.contains(pid); });
  }

  /// Streams of one number that another process uses are none of ours.
  [[nodiscard]] bool of_other_process(const Trace& trace, const Track& track) const {
    const std::string_view name = trace.text(track.process);
    return is_gpu_of_process(name) && name != gpu_of_process(track.device, found_.other_pid);
  }

  /// Only what may have a twin in `others`, where that is given: a base may have millions of
  /// events.
  void collect(const Trace& trace, std::int64_t shift, const Events* others, Events& events) {
    std::vector<std::uint32_t> texts(trace.strings.size(), 0);
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      const SliceId id(row);
      const Family family = family_of(trace.kind(id));
      const Track& track = trace.track(id);
      const bool device = family == Family::activity;
      if (others != nullptr && !wanted_[static_cast<std::size_t>(family)]) continue;
      // Steps are recorded by whoever counts them: Merger handles them.
      if (family == Family::none || is_profiler_step(trace.name(id)) ||
          track.kind != (device ? TrackKind::device_stream : TrackKind::host_thread) ||
          (device && of_other_process(trace, track)))
        continue;
      std::uint32_t& text = texts[trace.slices.name[row].row()];
      if (text == 0) text = word(trace.name(id));
      const Key key{family, device ? track.device : track.pid, device ? track.stream : track.tid,
                    text};
      if (others != nullptr && !others->contains(key)) continue;
      events[key].push_back({to_ns(trace.slices.start[row]) + shift,
                             to_ns(trace.slices.duration[row]), trace.slices.correlation[row],
                             static_cast<std::uint32_t>(row)});
    }
    constexpr std::int64_t kMicrosecond = 1000;
    bool whole = true;
    for (auto& [key, list] : events) {
      std::ranges::stable_sort(list, {}, &Event::start);
      for (const Event& event : list) whole = whole && (event.start - shift) % kMicrosecond == 0;
    }
    coarse_ = coarse_ || whole;
  }

  /// One number for a name in both traces.
  std::uint32_t word(std::string_view text) {
    return words_.try_emplace(std::string(text), static_cast<std::uint32_t>(words_.size() + 1))
        .first->second;
  }

  /// How far two records of one event may lie apart when the clocks' offset is known. A range is
  /// recorded by each recorder for itself, one within the other.
  [[nodiscard]] std::int64_t jitter(Family family) const {
    return family == Family::range ? std::clamp(error_, kJitterNs, kWidestJitterNs) : kJitterNs;
  }

  [[nodiscard]] bool as_long(Family family, const Event& a, const Event& b) const {
    return std::abs(a.duration - b.duration) <= jitter(family);
  }

  /// Distances by how often they occur, in steps of the jitter.
  class Votes {
   public:
    void add(std::int64_t distance) { all_.push_back(distance); }
    /// The middle of those around a frequent one. Of distances that are nearly as frequent as the
    /// most frequent one, the nearest: equal kernels in a row agree at each multiple of their pace.
    /// But one that `all` events agree with is better than any other.
    [[nodiscard]] std::optional<ClockDistance> winner(std::size_t all) {
      if (all_.empty()) return {};
      std::ranges::sort(all_);
      std::size_t most = 0;
      for_each_window(
          [&most](std::size_t begin, std::size_t end) { most = std::max(most, end - begin); });
      std::optional<ClockDistance> best;
      for_each_window([&](std::size_t begin, std::size_t end) {
        if (most >= all ? end - begin < all : (end - begin) * 10 < most * 9) return;
        const std::int64_t middle = all_[begin + (end - begin) / 2];
        if (best && std::abs(best->offset_ns) <= std::abs(middle)) return;
        best = ClockDistance{middle, end - begin};
      });
      return best;
    }

   private:
    /// The votes within the jitter before each vote.
    template <typename Visit>
    void for_each_window(const Visit& visit) const {
      std::size_t begin = 0;
      for (std::size_t end = 1; end <= all_.size(); ++end) {
        while (all_[end - 1] - all_[begin] > kJitterNs) ++begin;
        visit(begin, end);
      }
    }

    std::vector<std::int64_t> all_;
  };

  /// By the correlation ids that both have: clocks may be farther apart than they say.
  std::optional<ClockDistance> offset_by_ids(Family family, std::uint64_t& compared) {
    Votes votes;
    for (const auto& [key, theirs] : theirs_) {
      if (std::get<0>(key) != family) continue;
      const auto ours = ours_.find(key);
      if (ours == ours_.end()) continue;
      // Of the kernels of a graph, which share an id, none is identified by it.
      std::unordered_map<std::int64_t, const Event*> by_id;
      for (const Event& event : ours->second) {
        if (event.correlation == kAbsent) continue;
        const auto [at, added] = by_id.try_emplace(event.correlation, &event);
        if (!added) at->second = nullptr;
      }
      for (const Event& event : theirs) {
        const auto same = by_id.find(event.correlation);
        if (same == by_id.end() || same->second == nullptr) continue;
        if (!as_long(family, event, *same->second)) continue;
        const std::int64_t distance = event.start - same->second->start;
        if (std::abs(distance) > kFarthestNs) continue;
        ++compared;
        votes.add(distance);
      }
    }
    return votes.winner(compared);
  }

  std::optional<ClockDistance> offset_by_times(Family family) {
    Votes votes;
    std::size_t all = 0;
    for (const auto& [key, theirs] : theirs_) {
      if (std::get<0>(key) != family) continue;
      const auto ours = ours_.find(key);
      if (ours == ours_.end()) continue;
      all += std::min(theirs.size(), ours->second.size());
      for (const Event& event : theirs) {
        const auto nearest = std::ranges::lower_bound(ours->second, event.start, {}, &Event::start);
        const auto middle = static_cast<std::size_t>(nearest - ours->second.begin());
        const std::size_t first = middle - std::min(middle, kVotes / 2);
        const std::size_t last = std::min(ours->second.size(), middle + kVotes / 2);
        for (std::size_t i = first; i < last; ++i) {
          const Event& other = ours->second[i];
          const std::int64_t distance = event.start - other.start;
          if (std::abs(distance) <= error_ && as_long(family, event, other)) votes.add(distance);
        }
      }
    }
    return votes.winner(all);
  }

  void pair_up(Family family) {
    std::uint64_t compared = 0;
    const std::optional<ClockDistance> by_ids = offset_by_ids(family, compared);
    std::optional<ClockDistance> offset = offset_by_times(family);
    // Ids of another numbering agree by chance, and then at no one distance.
    constexpr std::uint64_t kFew = 3;
    const bool ids_agree = by_ids && by_ids->events >= kFew && by_ids->events * 2 > compared &&
                           (!offset || by_ids->events * 2 > offset->events);
    if (ids_agree) offset = by_ids;
    if (!offset) return;
    const std::uint64_t paired = walk(family, offset->offset_ns, ids_agree);
    (family == Family::activity ? found_.activities
     : family == Family::call   ? found_.calls
                                : found_.ranges) = paired;
    if (paired == 0) return;
    if (std::abs(offset->offset_ns) > error_) found_.beyond_error = true;
    if (!found_.distance || paired > found_.distance->events)
      found_.distance = ClockDistance{offset->offset_ns, paired};
  }

  /// One to one: equal correlation ids first, then those that are nearest to each other, so that
  /// equal kernels in quick succession keep their own twins where one recorder missed some. As near
  /// as times were written, and only farther where twins are found that far apart.
  std::uint64_t walk(Family family, std::int64_t offset, bool ids_agree) {
    std::uint64_t paired = 0;
    const std::int64_t far = jitter(family);
    const bool coarse = coarse_ || family == Family::range;
    Matching match{family, coarse ? far : kFineNs, ids_agree};
    std::int64_t apart = 0;
    for (int round = 0; round < 2; ++round) {
      for (const auto& [key, theirs] : theirs_) {
        const auto at = ours_.find(key);
        if (std::get<0>(key) != family || at == ours_.end()) continue;
        List mine{at->second, std::vector<bool>(at->second.size()), offset};
        List other{theirs, std::vector<bool>(theirs.size()), -offset};
        for (std::size_t i = 0; round > 0 && i < theirs.size(); ++i)
          other.taken[i] = found_.twin[theirs[i].row] != SameWork::kNew;
        for (std::size_t i = 0; round > 0 && i < at->second.size(); ++i)
          mine.taken[i] = has_twin_[at->second[i].row];
        for (const Pass pass : {Pass::same_id, Pass::mutual, Pass::any}) {
          if (pass != Pass::any || coarse) paired += walk_once(match, pass, mine, other, apart);
        }
      }
      match.near = std::min(far, kWider * apart);
      if (match.near <= kFineNs || coarse) break;
    }
    return paired;
  }

  enum class Pass : std::uint8_t { same_id, mutual, any };

  /// What makes two events one.
  struct Matching {
    Family family = Family::none;
    std::int64_t near = 0;
    bool ids_agree = false;  ///< Other ids are other events.
  };

  /// Events of one key in the order of time, and which have their twin.
  struct List {
    const std::vector<Event>& events;
    std::vector<bool> taken;
    std::int64_t ahead = 0;  ///< Of the other list's clock.
  };

  std::uint64_t walk_once(const Matching& match, Pass pass, List& mine, List& other,
                          std::int64_t& apart) {
    std::uint64_t paired = 0;
    const bool same_id = pass == Pass::same_id;
    for (std::size_t i = 0; i < other.events.size(); ++i) {
      if (other.taken[i]) continue;
      const Event& event = other.events[i];
      const std::size_t best = nearest(match, event, mine, same_id);
      if (best == mine.events.size()) continue;
      const Event& twin = mine.events[best];
      if (pass != Pass::any && nearest(match, twin, other, same_id) != i) continue;
      mine.taken[best] = true;
      other.taken[i] = true;
      has_twin_[twin.row] = true;
      found_.twin[event.row] = twin.row;
      apart = std::max(apart, std::abs(event.start - mine.ahead - twin.start));
      ++paired;
    }
    return paired;
  }

  /// Of the list's events without a twin, the one that may be this event and is nearest to it; its
  /// size where there is none.
  [[nodiscard]] std::size_t nearest(const Matching& match, const Event& event, const List& list,
                                    bool same_id) const {
    const std::vector<Event>& all = list.events;
    const std::int64_t start = event.start - list.ahead;
    const auto at = std::ranges::lower_bound(all, start, {}, &Event::start);
    const auto middle = static_cast<std::size_t>(at - all.begin());
    std::size_t best = all.size();
    std::int64_t distance = match.near + 1;
    for (std::size_t i = middle - std::min(middle, kLooks / 2);
         i < std::min(all.size(), middle + kLooks / 2); ++i) {
      const std::int64_t apart = std::abs(all[i].start - start);
      if (list.taken[i] || apart >= distance || !as_long(match.family, event, all[i])) continue;
      const bool both = event.correlation != kAbsent && all[i].correlation != kAbsent;
      const bool equal = both && event.correlation == all[i].correlation;
      if (same_id ? !equal : both && !equal && match.ids_agree) continue;
      best = i;
      distance = apart;
    }
    return best;
  }

  /// Where the base recorded a device, most of what the other saw must be the base's too, or most
  /// of the base's must be what the other saw; else the two cannot be matched, and the base is
  /// believed.
  void doubt() {
    if (!wanted_[static_cast<std::size_t>(Family::activity)]) return;
    std::map<std::int64_t, Stretch> ours;
    std::map<std::int64_t, Stretch> theirs;
    for_each_activity([&](std::int64_t device, std::int64_t begin, std::int64_t end) {
      ours[device].add(begin, end);
    });
    for_each_of_theirs([&](std::int64_t device, const Event& event) {
      theirs[device].add(event.start, event.start + event.duration);
    });
    // What the base holds while the other recorded.
    std::map<std::int64_t, std::uint64_t> held;
    for_each_activity([&](std::int64_t device, std::int64_t begin, std::int64_t end) {
      const auto at = theirs.find(device);
      if (at != theirs.end() && at->second.meets(begin - kBesideNs, end + kBesideNs))
        ++held[device];
    });
    std::map<std::int64_t, std::vector<std::uint32_t>> alone;
    std::map<std::int64_t, std::uint64_t> paired;
    for_each_of_theirs([&](std::int64_t device, const Event& event) {
      const auto at = ours.find(device);
      if (at == ours.end() || !at->second.meets(event.start, event.start + event.duration)) return;
      if (found_.twin[event.row] != SameWork::kNew) {
        ++paired[device];
      } else {
        alone[device].push_back(event.row);
      }
    });
    for (const auto& [device, rows] : alone) {
      if (rows.size() <= paired[device] || held[device] <= 2 * paired[device]) continue;
      for (const std::uint32_t row : rows) found_.doubtful[row] = true;
      found_.doubtful_activities += rows.size();
    }
  }

  struct Stretch {
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    void add(std::int64_t from, std::int64_t to) {
      begin = std::min(begin, from);
      end = std::max(end, to);
    }
    [[nodiscard]] bool meets(std::int64_t from, std::int64_t to) const {
      return to > begin && from < end;
    }
  };

  /// Of the base and this process.
  template <typename Visit>
  void for_each_activity(const Visit& visit) const {
    for (std::size_t row = 0; row < base_.slices.size(); ++row) {
      const SliceId id(row);
      if (!is_device_activity(base_.kind(id)) || of_other_process(base_, base_.track(id))) continue;
      visit(base_.track(id).device, to_ns(base_.slices.start[row]), to_ns(base_.slices.end(id)));
    }
  }

  template <typename Visit>
  void for_each_of_theirs(const Visit& visit) const {
    for (const auto& [key, events] : theirs_) {
      if (std::get<0>(key) != Family::activity) continue;
      for (const Event& event : events) visit(std::get<1>(key), event);
    }
  }

  /// Twins show what an id is called in the base; other ids must not meet one of the base's.
  void name_correlations() {
    std::uint64_t equal = 0;
    std::uint64_t compared = 0;
    std::int64_t next = 0;
    for (const std::int64_t id : base_.slices.correlation) next = std::max(next, id);
    bool has_calls = false;
    for (std::size_t row = 0; row < other_.slices.size(); ++row) {
      const std::int64_t id = other_.slices.correlation[row];
      if (id == kAbsent) continue;
      has_calls = has_calls || family_of(other_.kind(SliceId(row))) == Family::call;
      if (found_.twin[row] == SameWork::kNew) continue;
      const std::int64_t same = base_.slices.correlation[found_.twin[row]];
      if (same == kAbsent) continue;
      ++compared;
      equal += same == id ? 1 : 0;
      found_.correlations.emplace(id, same);
    }
    found_.same_ids =
        compared > 0 ? equal * 2 > compared : next == 0 || (found_.same_process && !has_calls);
    if (found_.same_ids) {
      found_.correlations.clear();
      return;
    }
    for (const std::int64_t id : other_.slices.correlation) {
      // The largest number there is stays what it is: it stands for nothing real.
      if (id == kAbsent || next == INT64_MAX) continue;
      if (found_.correlations.try_emplace(id, next + 1).second) ++next;
    }
  }

  const Trace& base_;
  const Trace& other_;
  std::int64_t shift_;
  std::int64_t error_;
  Events ours_;
  Events theirs_;
  std::array<bool, 4> wanted_{};  // by family
  bool coarse_ = false;           // one of the two wrote whole microseconds
  std::vector<bool> has_twin_;    // rows of the base
  std::unordered_map<std::string, std::uint32_t> words_;
  SameWork found_;
};

}  // namespace

std::string gpu_of_process(std::int32_t device, std::int64_t pid) {
  return "GPU " + std::to_string(device) + std::string(kOfProcess) + std::to_string(pid);
}

bool is_gpu_of_process(std::string_view name) {
  return name.starts_with("GPU ") && name.find(kOfProcess) != std::string_view::npos;
}

SameWork find_same_work(const Trace& base, const Trace& other, Duration shift,
                        std::int64_t error_ns) {
  return Finder(base, other, shift, error_ns).run();
}

}  // namespace fathom
