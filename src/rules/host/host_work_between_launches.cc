// host-work-between-launches: the program computes in Python while the device waits.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/lines/line_runs.h"
#include "analysis/machine/thread_time.h"
#include "analysis/machine/timed_steps.h"
#include "analysis/structure/from_outside.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "replay/host_pieces.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/collectives.h"
#include "rules/common/compilation.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/recorded_lines.h"
#include "rules/common/sampled_lines.h"
#include "rules/common/worker_starts.h"
#include "rules/rule.h"
#include "store/profiler_step.h"

namespace fathom {
namespace host_work_between_launches_rule {
namespace {

constexpr std::string_view kDoc =
    "Tokenising, augmenting, logging or saving between launches stops the device as loading data "
    "does, only outside of the loader. Counted are stretches of at least 200 µs and 0.5 % of a "
    "step in which the launching thread (without a device: the main thread) is in no operator, no "
    "call and no loader while the device idles; shorter ones are what Python costs per operator, "
    "which host-bound describes. Fires from 5 % of the step. Lines are named where lines or Python "
    "stacks were recorded, each from 2 % of the step: a stretch is cut wherever a line or frame "
    "begins or ends, and each piece belongs to the line, else to the innermost frame of the user's "
    "code. Without them, samples of the thread's stacks name the line that they show most in these "
    "stretches. The start of a loader's "
    "workers is known by what an iterator does around it: it draws a seed before and samples "
    "after. "
    "Where allocator events were recorded, a stretch is freeing that memory is given back in, 8 "
    "times or 16 MiB, from its first twentieth to its last tenth, with none taken. "
    "Where a run's own times show a checkpoint in such a stretch, it saves the program's state, as "
    "does what is left of a stretch that is checkpoints for three quarters. A "
    "stretch without a name that processor times show to be mostly without a processor is not "
    "Python's, unless the rest is 10 % of the step. Gaps without a line in less than half of the "
    "steps (of those in which the function runs), or between other operators in each, or between "
    "operators that follow each other at once in more than three of four times, have low "
    "confidence: a thread that waits for a processor looks the same. Behind operators "
    "on tensors of 16 MiB, where memory was not recorded, freeing is named, too. "
    "Compilation, and waiting for a collective on another thread, do not count. Sources: our "
    "accounting; PyTorch's tuning guide (asynchronous loading and augmentation).";

constexpr double kLeastPercent = 5.0;
constexpr double kLeastPercentOfSite = 2.0;
constexpr std::size_t kMostSites = 4;
constexpr Duration kLeastStretch = duration_ns(200'000);
constexpr double kLeastShareOfStep = 0.005;
/// Memory is freed in a stretch where so much is given back, from near its begin to near its end,
/// and nothing is taken.
constexpr std::size_t kManyFrees = 8;
constexpr std::int64_t kMuchFreed = std::int64_t{16} << 20U;
constexpr double kFreesBegin = 0.05;
constexpr double kFreesEnd = 0.9;
/// Where nothing else is known of such a stretch.
constexpr std::string_view kFreeing = "freeing";
constexpr std::string_view kSaving = "saving";
/// Beside time without a processor nobody can tell less than this share of the step from it.
constexpr double kLeastBesideWaits = 10.0;
/// Of so few steps none is usual.
constexpr std::size_t kStepsToCompare = 4;
/// A loop that works in Python does so in one of so many rounds at least.
constexpr std::size_t kRoundsPerGap = 4;

enum class Work : std::uint8_t {
  text,
  images,
  augmenting,
  logging,
  saving,
  collecting,
  sleeping,
  freeing,
  other
};
constexpr std::size_t kWorks = static_cast<std::size_t>(Work::other) + 1;

struct Word {
  std::string_view text;
  Work work;
};
// Parts of frames' names, files included; the first that occurs counts.
constexpr auto kWords = std::to_array<Word>({
    {"time.sleep", Work::sleeping},
    {"gc.collect", Work::collecting},
    {"tokeniz", Work::text},
    {"tokenis", Work::text},
    {"torchvision/transforms", Work::images},
    {"albumentations/", Work::images},
    {"PIL/", Work::images},
    {"cv2", Work::images},
    {"augment", Work::augmenting},
    {"logging/__init__", Work::logging},
    {"tqdm/", Work::logging},
    {"wandb/", Work::logging},
    {"tensorboard", Work::logging},
    {"built-in function print", Work::logging},
    {"torch/serialization.py", Work::saving},
    {"pickle", Work::saving},
    {"checkpoint", Work::saving},
});

constexpr std::array<std::string_view, kWorks> kDone = {
    "text is tokenised",  "images are processed", "samples are augmented",
    "progress is logged", "state is saved",       "garbage is collected",
    "the program sleeps", "memory is freed",      ""};

Work work_of(std::string_view frame) {
  const auto at = std::ranges::find_if(
      kWords, [frame](const Word& word) { return frame.find(word.text) != frame.npos; });
  return at == kWords.end() ? Work::other : at->work;
}

/// A stretch of plain Python that the device waits for.
struct Stretch {
  Interval interval{};
  TrackId track{};
  std::uint32_t gap = UINT32_MAX;    // With a device.
  const HostPiece* piece = nullptr;  // Without.
};

/// What one place in the program costs.
struct Site {
  StringId line{};  // The statement, where lines were recorded, or invalid.
  SliceId frame{};  // Of the user's code, or invalid.
  SliceId range{};  // Without a line or frame: the annotation around it, or invalid.
  Duration time{};
  std::array<Duration, kWorks> by_work{};
  std::vector<Claim> claims;
  std::vector<Interval> stretches;
  std::size_t frees = 0;   // In its stretches that are freeing.
  std::int64_t freed = 0;  // Bytes.
};

/// What allocators gave back and took, by thread.
class Frees {
 public:
  /// No memory is larger, and two of them can be added.
  static constexpr std::int64_t kMost = std::int64_t{1} << 60U;
  struct Freed {
    std::size_t times = 0;
    std::int64_t bytes = 0;
  };

  explicit Frees(const Trace& trace) {
    const MemoryEvents& memory = trace.memory;
    for (std::size_t row = 0; row < memory.size(); ++row)
      by_thread_[memory.track[row]].push_back({memory.time[row], memory.bytes[row]});
    for (auto& [track, events] : by_thread_)
      std::ranges::stable_sort(events, {}, [](const Event& event) { return event.time; });
  }

  /// What a stretch of freeing gives back; nothing for another one.
  [[nodiscard]] Freed of(const Stretch& stretch) const {
    const auto thread = by_thread_.find(stretch.track);
    if (thread == by_thread_.end()) return {};
    const auto time_of = [](const Event& event) { return event.time; };
    const auto first =
        std::ranges::lower_bound(thread->second, stretch.interval.begin, {}, time_of);
    const auto last =
        std::ranges::upper_bound(first, thread->second.end(), stretch.interval.end, {}, time_of);
    if (first == last) return {};
    Freed freed;
    for (auto at = first; at != last; ++at) {
      if (at->bytes >= 0) return {};
      ++freed.times;
      freed.bytes -= std::max(at->bytes, -kMost);
      freed.bytes = std::min(freed.bytes, kMost);
    }
    const auto share = [&](Time at) {
      return static_cast<double>(to_ns(at - stretch.interval.begin)) /
             static_cast<double>(to_ns(stretch.interval.length()));
    };
    if (freed.times < kManyFrees && freed.bytes < kMuchFreed) return {};
    if (share(first->time) > kFreesBegin || share(std::prev(last)->time) < kFreesEnd) return {};
    return freed;
  }

 private:
  struct Event {
    Time time{};
    std::int64_t bytes = 0;
  };
  std::map<TrackId, std::vector<Event>> by_thread_;
};

/// When the run saved the program's state, as it timed that itself.
class Checkpoints {
 public:
  explicit Checkpoints(const RuleContext& rules) {
    if (rules.steps.empty()) return;
    each_timed(rules.trace(), "phase", rules.steps.front()->pid,
               [this](std::string_view name, Interval own) {
                 if (name == "checkpoint") stretches_.push_back(own);
               });
    stretches_ = merged(std::move(stretches_));
  }

  /// Cuts a stretch where a checkpoint begins or ends: visit(part, is it one). What is left of one
  /// that is checkpoints for three quarters belongs to them: what is saved is put together before,
  /// and brought to the disk after.
  template <typename Visit>
  void each_part(const Interval& stretch, const Visit& visit) const {
    if (4 * covered(stretch) >= 3 * stretch.length()) return visit(stretch, true);
    Time at = stretch.begin;
    auto next = std::ranges::upper_bound(stretches_, at, {}, &Interval::end);
    for (; next != stretches_.end() && next->begin < stretch.end; ++next) {
      const Interval inside{std::max(next->begin, at), std::min(next->end, stretch.end)};
      if (at < inside.begin) visit(Interval{at, inside.begin}, false);
      visit(inside, true);
      at = inside.end;
    }
    if (at < stretch.end) visit(Interval{at, stretch.end}, false);
  }

 private:
  /// The time of checkpoints in it.
  [[nodiscard]] Duration covered(const Interval& stretch) const {
    Duration sum{};
    auto next = std::ranges::upper_bound(stretches_, stretch.begin, {}, &Interval::end);
    for (; next != stretches_.end() && next->begin < stretch.end; ++next)
      sum += std::min(next->end, stretch.end) - std::max(next->begin, stretch.begin);
    return sum;
  }

  std::vector<Interval> stretches_;
};

/// Time that other rules explain: compilation; without a device, collectives on other threads.
class OtherCauses {
 public:
  explicit OtherCauses(const RuleContext& rules) : stretches_(compilation_in(rules).stretches) {
    if (rules.device >= 0) return;
    for (const CollectiveCall& call : collective_calls(rules)) {
      stretches_.push_back(interval_of(rules.trace(), call.slice));
    }
    stretches_ = merged(std::move(stretches_));
  }
  [[nodiscard]] bool overlaps(const Interval& stretch) const {
    const auto at = std::ranges::upper_bound(stretches_, stretch.begin, {}, &Interval::end);
    return at != stretches_.end() && at->begin < stretch.end;
  }

 private:
  std::vector<Interval> stretches_;
};

std::vector<Stretch> on_device(const RuleContext& rules, Duration least) {
  const OtherCauses causes(rules);
  std::vector<Stretch> found;
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  for (const IdlePiece& piece : device.pieces) {
    const Gap& gap = device.gaps[piece.gap];
    if (piece.cause != Bucket::python || piece.interval.length() < least) continue;
    const SliceId on = gap.launch.valid() ? gap.launch : gap.late_frame;
    if (!on.valid() || rules.counted(piece.interval) < least) continue;
    if (causes.overlaps(piece.interval)) continue;
    found.push_back({piece.interval, rules.trace().slices.track[on.row()], piece.gap, nullptr});
  }
  return found;
}

std::vector<Stretch> on_main_thread(const RuleContext& rules, Duration least) {
  const OtherCauses causes(rules);
  std::vector<Stretch> found;
  for (const HostPiece& piece : rules.accounting.host) {
    if (piece.bucket != HostBucket::python || piece.interval.length() < least) continue;
    if (rules.counted(piece.interval) < least || causes.overlaps(piece.interval)) continue;
    found.push_back({piece.interval, rules.accounting.main_thread, UINT32_MAX, &piece});
  }
  return found;
}

/// The innermost host work around a stretch of a launching thread, or invalid.
SliceId work_around(const RuleContext& rules, const Interval& stretch, TrackId track) {
  const Nesting::Thread* const thread = thread_on(rules.context.nesting().work, track);
  if (thread == nullptr) return {};
  return innermost_at(rules.trace(), rules.context.nesting(), *thread, stretch.begin, stretch.end);
}

/// Calls visit(innermost slice of the forest or invalid, piece) for all of a stretch.
template <typename Visit>
void cut(const RuleContext& rules, const std::vector<Nesting::Thread>& forest,
         const Stretch& stretch, const Visit& visit) {
  Time at = stretch.interval.begin;
  const auto piece = [&](SliceId innermost, const Interval& part) {
    if (at < part.begin) visit(SliceId(), Interval{at, part.begin});
    visit(innermost, part);
    at = part.end;
  };
  if (const Nesting::Thread* const thread = thread_on(forest, stretch.track)) {
    for_each_piece(rules.trace(), rules.context.nesting(), *thread, stretch.interval, piece);
  }
  if (at < stretch.interval.end) visit(SliceId(), Interval{at, stretch.interval.end});
}

/// Cuts stretches by the frames in them: whose code runs, and what it does.
class SiteFinder {
 public:
  explicit SiteFinder(const RuleContext& rules)
      : rules_(rules),
        frees_(rules.trace()),
        checkpoints_(rules),
        names_(rules.trace().strings.size()) {
    work_notes_.resize(rules.trace().slices.size());
    range_notes_.resize(rules.trace().slices.size());
  }

  void look(const Stretch& stretch, std::map<std::string, Site>& sites) {
    const Nesting& nesting = rules_.context.nesting();
    freed_ = frees_.of(stretch);
    std::vector<Range> ranges;
    cut(rules_, nesting.work, stretch, [&](SliceId around, const Interval& part) {
      ranges.push_back({part, range_around(around)});
    });
    auto range = ranges.begin();
    const LineRuns* const lines = rules_.sites.lines();
    const LineRuns::Thread* const thread = lines == nullptr ? nullptr : lines->of(stretch.track);
    const auto without_line = [&](SliceId innermost, SliceId frame, const Interval& part) {
      if (frame.valid()) {
        add(part, stretch, {.place = place_of(frame), .line = {}, .frame = frame, .range = {}},
            work(innermost), sites);
        return;
      }
      // No line is known: the annotations around it have to do.
      while (range != ranges.end() && range->interval.end <= part.begin) ++range;
      for (auto at = range; at != ranges.end() && at->interval.begin < part.end; ++at) {
        const std::string name =
            at->slice.valid() ? std::string(rules_.trace().name(at->slice)) : std::string();
        const Interval inside{std::max(at->interval.begin, part.begin),
                              std::min(at->interval.end, part.end)};
        if (name.empty()) {
          without_name(inside, stretch, innermost, sites);
          continue;
        }
        add(inside, stretch, {.place = "in " + name, .line = {}, .frame = {}, .range = at->slice},
            work_of(name), sites);
      }
    };
    cut(rules_, nesting.frames, stretch, [&](SliceId innermost, const Interval& piece) {
      const SliceId frame = rules_.sites.frame(innermost);
      if (thread == nullptr) {
        without_line(innermost, frame, piece);
        return;
      }
      thread->each_part(piece, [&](const Interval& part, StringId line) {
        if (!line.valid()) {
          without_line(innermost, frame, part);
          return;
        }
        const Work by_frames = work(innermost);
        add(part, stretch,
            {.place = rules_.sites.place_of(line), .line = line, .frame = frame, .range = {}},
            by_frames == Work::other ? work_of(rules_.trace().text(line)) : by_frames, sites);
      });
    });
  }

  /// What the function of this frame, and all that it calls, takes of the stretches.
  [[nodiscard]] Duration inside(SliceId frame, const std::vector<Stretch>& stretches) const {
    const Trace& trace = rules_.trace();
    const Nesting& nesting = rules_.context.nesting();
    const StringId name = trace.slices.name[frame.row()];
    FromOutside notes;
    notes.resize(trace.slices.size());
    const auto is_it = [&](SliceId at) { return trace.slices.name[at.row()] == name; };
    Duration sum{};
    for (const Stretch& stretch : stretches) {
      if (stretch.track != trace.slices.track[frame.row()]) continue;
      cut(rules_, nesting.frames, stretch, [&](SliceId innermost, const Interval& part) {
        if (outermost_around(notes, nesting.parent, innermost, is_it).valid())
          sum += rules_.counted(part);
      });
    }
    return sum;
  }

 private:
  /// Where neither a line nor an annotation is known: what the run or allocators noted.
  void without_name(const Interval& part, const Stretch& stretch, SliceId innermost,
                    std::map<std::string, Site>& sites) {
    checkpoints_.each_part(part, [&](const Interval& inside, bool saves) {
      const std::string_view place = saves              ? kSaving
                                     : freed_.times > 0 ? kFreeing
                                                        : std::string_view();
      add(inside, stretch, {.place = std::string(place), .line = {}, .frame = {}, .range = {}},
          saves ? Work::saving : work(innermost), sites);
    });
  }

  /// A part of a stretch, and the annotation around it.
  struct Range {
    Interval interval{};
    SliceId slice{};
  };

  /// Where a piece belongs.
  struct Whose {
    std::string place;
    StringId line{};
    SliceId frame{};
    SliceId range{};
  };

  void add(const Interval& part, const Stretch& stretch, const Whose& whose, Work done,
           std::map<std::string, Site>& sites) {
    const Duration time = rules_.counted(part);
    if (time <= Duration{}) return;
    if (done == Work::other && freed_.times > 0) done = Work::freeing;
    Site& site = sites[whose.place];
    site.line = whose.line;
    site.frame = whose.frame;
    site.range = whose.range;
    site.time += time;
    site.by_work[static_cast<std::size_t>(done)] += time;
    const bool again = !site.stretches.empty() && site.stretches.back() == stretch.interval;
    if (again && !site.claims.empty()) {
      site.claims.back().time += time;
      return;
    }
    if (!again) {
      site.stretches.push_back(stretch.interval);
      site.frees += freed_.times;
      site.freed = std::min(site.freed, Frees::kMost) + freed_.bytes;
    }
    if (stretch.gap != UINT32_MAX) {
      site.claims.push_back({.device = rules_.device, .gap = stretch.gap, .time = time});
    } else if (stretch.piece != nullptr) {
      site.claims.push_back(piece_claim(rules_, *stretch.piece, time));
    }
  }

  /// The innermost annotation around a slice that is not a step's; or invalid.
  [[nodiscard]] SliceId range_around(SliceId slice) const {
    const Trace& trace = rules_.trace();
    const SliceId range =
        innermost_around(range_notes_, rules_.context.nesting().parent, slice,
                         [&](SliceId at) { return trace.kind(at) == SliceKind::user_annotation; });
    return range.valid() && is_profiler_step(trace.name(range)) ? SliceId() : range;
  }

  /// Where a frame of the user's code is: its name shows it.
  const std::string& place_of(SliceId frame) {
    const StringId name = frame.valid() ? rules_.trace().slices.name[frame.row()] : StringId();
    const auto [at, added] = places_.try_emplace(name);
    if (added) at->second = rules_.sites.of(frame);
    return at->second;
  }

  /// What the frames up to the user's do.
  Work work(SliceId innermost) {
    const std::uint32_t found = work_notes_.of(rules_.context.nesting().parent, innermost,
                                               [this](std::uint32_t outside, SliceId at) {
                                                 const Name& name = name_of(at);
                                                 if (name.work != Work::other)
                                                   return 1 + static_cast<std::uint32_t>(name.work);
                                                 return name.users ? 0 : outside;
                                               });
    return found == 0 ? Work::other : static_cast<Work>(found - 1);
  }

  /// What the name of a frame shows.
  struct Name {
    bool known = false;
    bool users = false;
    Work work = Work::other;
  };
  const Name& name_of(SliceId frame) {
    Name& name = names_[rules_.trace().slices.name[frame.row()].row()];
    if (name.known) return name;
    const std::string_view text = rules_.trace().name(frame);
    name = {.known = true, .users = is_user_code(parse_place(text)), .work = work_of(text)};
    return name;
  }

  const RuleContext& rules_;
  Frees frees_;
  Checkpoints checkpoints_;
  Frees::Freed freed_;  // Of the stretch that is looked at.
  std::vector<Name> names_;
  FromOutside work_notes_;
  FromOutside range_notes_;
  std::map<StringId, std::string> places_;
};

/// Where in the program the stretches of a place lie, for most of their time.
enum class Moment : std::uint8_t { before_work, in_optimizer, elsewhere };

/// The host work of one thread that matches, in its order: what comes next after a moment is found
/// at once, however much else lies between.
class Matching {
 public:
  template <typename Matches>
  Matching(const RuleContext& rules, TrackId track, const Matches& matches) {
    const Nesting::Thread* const thread = thread_on(rules.context.nesting().work, track);
    if (thread == nullptr) return;
    known_ = true;
    for (const SliceId slice : thread->slices) {
      if (!matches(slice)) continue;
      slices_.push_back(slice);
      starts_.push_back(rules.trace().slices.start[slice.row()]);
    }
  }
  /// Does the thread do host work at all?
  [[nodiscard]] bool known() const { return known_; }
  /// The first that begins at that time or later, or invalid.
  [[nodiscard]] SliceId from(Time time) const {
    const auto at = std::ranges::lower_bound(starts_, time);
    return at == starts_.end() ? SliceId()
                               : slices_[static_cast<std::size_t>(at - starts_.begin())];
  }

 private:
  bool known_ = false;
  std::vector<SliceId> slices_;
  std::vector<Time> starts_;
};

/// The same of each thread that is asked about.
template <typename Matches>
class MatchingByThread {
 public:
  MatchingByThread(const RuleContext& rules, const Matches& matches)
      : rules_(rules), matches_(matches) {}
  const Matching& of(TrackId track) {
    const auto at = known_.find(track);
    return at != known_.end()
               ? at->second
               : known_.emplace(track, Matching(rules_, track, matches_)).first->second;
  }

 private:
  const RuleContext& rules_;
  Matches matches_;
  std::map<TrackId, Matching> known_;
};

/// Has no operator of the step begun on the thread?
bool is_before_work(const RuleContext& rules, const Interval& stretch, const Matching& operators) {
  const Step* const step = rules.step_at(stretch.begin);
  if (step == nullptr || !operators.known()) return false;
  const SliceId first = operators.from(step->window.begin);
  return !first.valid() || rules.trace().slices.start[first.row()] >= stretch.begin;
}

Moment moment_of(const RuleContext& rules, const Site& site, const std::vector<Stretch>& all) {
  const Trace& trace = rules.trace();
  FromOutside notes;
  notes.resize(trace.slices.size());
  const auto is_optimizers = [&](SliceId at) { return trace.name(at).starts_with("Optimizer."); };
  const auto is_op = [&](SliceId at) { return trace.kind(at) == SliceKind::cpu_op; };
  MatchingByThread operators(rules, is_op);
  std::array<Duration, 3> time{};
  for (const Interval& interval : site.stretches) {
    const auto at = std::ranges::lower_bound(all, interval.begin, {},
                                             [](const Stretch& one) { return one.interval.begin; });
    if (at == all.end()) continue;
    const Time middle = interval.begin + interval.length() / 2;
    const Interval inside{middle, middle + duration_ns(1)};
    const SliceId around = work_around(rules, inside, at->track);
    const bool in_optimizer =
        innermost_around(notes, rules.context.nesting().parent, around, is_optimizers).valid();
    const Moment moment = in_optimizer ? Moment::in_optimizer
                          : is_before_work(rules, interval, operators.of(at->track))
                              ? Moment::before_work
                              : Moment::elsewhere;
    time[static_cast<std::size_t>(moment)] += interval.length();
  }
  return static_cast<Moment>(std::ranges::max_element(time) - time.begin());
}

std::string place_of_tensors(const RuleContext& rules) {
  return rules.device >= 0 ? " on the device" : "";
}

/// Do the workers of a loader start in this stretch: between the seed that an iterator draws and
/// its first fetch, with nothing but the sampler in between?
/// `others`: what is not the sampler's.
bool starts_workers(const RuleContext& rules, const Interval& stretch, TrackId track,
                    const Matching& others) {
  const Trace& trace = rules.trace();
  const Nesting::Thread* const thread = thread_on(rules.context.nesting().work, track);
  if (thread == nullptr) return false;
  const auto start_of = [&trace](SliceId at) { return trace.slices.start[at.row()]; };
  const auto after = std::ranges::lower_bound(thread->slices, stretch.end, {}, start_of);
  if (after == thread->slices.begin() || !is_of_sampler(trace.name(*std::prev(after))))
    return false;
  const SliceId other = others.from(stretch.end);
  return other.valid() && fetches_from_workers(trace.name(other));
}

/// The time of a place in which workers of a loader start.
Duration starting_workers(const RuleContext& rules, const Site& site,
                          const std::vector<Stretch>& all) {
  MatchingByThread others(rules,
                          [&](SliceId at) { return !is_of_sampler(rules.trace().name(at)); });
  Duration sum{};
  for (const Interval& interval : site.stretches) {
    const auto at = std::ranges::lower_bound(all, interval.begin, {},
                                             [](const Stretch& one) { return one.interval.begin; });
    if (at != all.end() && starts_workers(rules, interval, at->track, others.of(at->track)))
      sum += rules.counted(interval);
  }
  return sum;
}

Fix fix_of_freeing(const RuleContext& rules) {
  if (!is_training(rules)) {
    return {.text =
                "Where no backward pass follows, keep nothing for it: under inference_mode "
                "intermediate results are freed while the model works, and no graph is dropped "
                "with the result. Where they are none, write large results into the same memory "
                "again (out=).",
            .before = "y = model(x)",
            .after = "with torch.inference_mode():\n    y = model(x)"};
  }
  return {.text =
              "Write large tensors into the same memory again (out=, copy_) in place of new ones, "
              "and keep no graph longer than its backward pass. An allocator that keeps memory "
              "for reuse (jemalloc, tcmalloc) gives less back to the system. Caveat: it holds "
              "more memory.",
          .before = "",
          .after = ""};
}

/// A server's own loop, which its user does not write.
Fix fix_of_server() {
  return {.text =
              "This is vLLM's own work before and between passes: scheduling, and preparing their "
              "inputs. async_scheduling prepares the next pass while the device works; more "
              "requests at once share it (max_num_seqs).",
          .before = "LLM(model)",
          .after = "LLM(model, async_scheduling=True)"};
}

/// For a thread that was seen waiting: what it waits for is no work of Python.
Fix fix_of_waiting(const RuleContext& rules) {
  if (rules.context.steps().requests) {
    return {.text =
                "Wait for less: ask for several things at once, keep answers that come again. "
                "Where it is a lock, hold it only while shared data changes. In an event loop, "
                "await an asynchronous client, or hand the call to a thread: meanwhile no other "
                "request is answered. Caveat: what a thread shares needs a lock.",
            .before = "result = call()",
            .after = "result = await asyncio.to_thread(call)  # in an event loop"};
  }
  if (!is_training(rules)) {
    return {.text =
                "Ask ahead: let a thread wait for the next input while the model works on this "
                "one (waiting releases the interpreter's lock), and ask for several at once.",
            .before = "for x in inputs: y = model(fetch(x))",
            .after =
                "ready = pool.submit(fetch, inputs[0])\nfor x in inputs[1:]:\n"
                "    batch, ready = ready.result(), pool.submit(fetch, x)\n    y = model(batch)"};
  }
  return {.text =
              "Ask ahead: wait in the loader's workers or in a thread beside the loop (waiting "
              "releases the interpreter's lock), so that the answer is there when it is needed; "
              "or ask for several at once, or every N steps.",
          .before = "for step in steps: x = fetch(step); train_step(x)",
          .after = "for x in DataLoader(Fetched(), num_workers=" +
                   std::to_string(workers_for(rules, 4)) + "): train_step(x)"};
}

/// For work that no name explains.
Fix fix_of_moment(const RuleContext& rules, Moment moment) {
  if (frameworks_of(rules.trace()).vllm && !is_training(rules)) return fix_of_server();
  if (rules.context.steps().requests) {
    return {.text =
                "Do less for each request: keep results that come again, work on whole arrays "
                "(numpy, tensor operators), or hand the loop to compiled code (Cython, Numba). "
                "Caveat: more worker processes answer more requests at a time, but none sooner.",
            .before = "",
            .after = ""};
  }
  if (moment == Moment::in_optimizer) {
    return {.text =
                "This runs inside the optimizer's step: its loop over the parameters, hooks or "
                "what is computed for each. Update all parameters at once where the optimizer has "
                "such an implementation, and do every N steps what each step does not need.",
            .before = "",
            .after = ""};
  }
  if (!is_training(rules) && moment == Moment::elsewhere) {
    return {
        .text = "Where it lies between the operators of one pass, write it as tensor operators" +
                place_of_tensors(rules) +
                ", and compute once what is the same in each pass. Where it prepares the next "
                "input or handles results, do that in a thread or a process beside the model.",
        .before = "",
        .after = ""};
  }
  if (!is_training(rules)) {
    return {.text = std::string("Prepare the next input in a thread or a process while the ") +
                    (rules.device >= 0 ? "device" : "model") +
                    " works on this one, and handle results there, too; or write it as tensor "
                    "operators" +
                    place_of_tensors(rules) + ".",
            .before = "for x in inputs: y = model(prepare(x))",
            .after =
                "ready = pool.submit(prepare, inputs[0])\nfor x in inputs[1:]:\n"
                "    batch, ready = ready.result(), pool.submit(prepare, x)\n    y = model(batch)"};
  }
  if (moment == Moment::before_work) {
    return {.text =
                "Do it before training, in the loader's workers, or in a thread beside the "
                "loop (where it releases the interpreter's lock), so that the next batch is "
                "ready when it is needed; or write it as tensor operators" +
                place_of_tensors(rules) + ".",
            .before = "for step in steps: x = prepare(raw[step]); train_step(x)",
            .after = "for x in DataLoader(Prepared(raw), num_workers=" +
                     std::to_string(workers_for(rules, 4)) + "): train_step(x)"};
  }
  return {.text =
              "Do it before training, every N steps, or in a thread beside the loop (where it "
              "releases the interpreter's lock); or write it as tensor operators" +
              place_of_tensors(rules) + ".",
          .before = "",
          .after = ""};
}

/// For gaps of few steps of which no line is known.
Fix fix_of_rare(const RuleContext& rules) {
  return {.text = "Record again, with nothing else on the machine. Where the gaps come back, " +
                  recording_with(rules.trace(), "with_stack=True") +
                  " shows their lines; a garbage collection is among them where the collector is "
                  "on (gc.freeze() after the start leaves it less to look at).",
          .before = "",
          .after = ""};
}

/// For work that may be freeing.
Fix fix_of_either(const RuleContext& rules) {
  Fix fix = fix_of_freeing(rules);
  fix.text = "Record again: " + recording_with(rules.trace(), "profile_memory=True") +
             " shows what is freed there. If it is memory: " + fix.text;
  return fix;
}

Fix fix_of(const RuleContext& rules, Work work, Moment moment) {
  switch (work) {
    case Work::text:
      return {.text =
                  "Tokenise before training and store the ids, or in the loader's workers "
                  "(collate_fn) with a fast tokenizer, for whole batches at once.",
              .before = "for text in texts: ids = tokenizer(text)",
              .after = "dataset = dataset.map(lambda b: tokenizer(b[\"text\"]), batched=True)"};
    case Work::images:
      if (rules.device < 0) {
        return {.text =
                    "Augment in the loader's workers, or whole batches at once as tensors. Caveat: "
                    "images "
                    "of a batch then share their random choices.",
                .before = "x = torch.stack([augment(image) for image in batch])",
                .after = "x = augment(torch.stack(batch))  # torchvision.transforms.v2"};
      }
      return {.text =
                  "Augment in the loader's workers, or on the device in batches "
                  "(torchvision.transforms.v2 on tensors, Kornia). Caveat: images of a batch then "
                  "share their random choices, unless the transform draws one for each.",
              .before = "x = torch.stack([augment(image) for image in batch]).to(device)",
              .after = "x = augment(torch.stack(batch).to(device))"};
    case Work::augmenting:
      return {.text =
                  "Augment in the loader's workers, or whole batches at once by tensor operators. "
                  "Caveat: samples of a batch then share their random choices, unless one is drawn "
                  "for each.",
              .before = "x = torch.stack([augment(sample) for sample in batch])",
              .after = "x = augment(torch.stack(batch))"};
    case Work::logging:
      return {.text =
                  "Log every N steps, and hand what is logged to another thread. Caveat: "
                  "values on the device have to be copied first.",
              .before = "log(loss)",
              .after = "if step % 100 == 0: log(loss.item())"};
    case Work::saving:
      return {.text =
                  "Save less often, or in the background (torch.distributed.checkpoint's "
                  "async_save). Caveat: needs a copy of the state in host memory.",
              .before = "torch.save(state, path)",
              .after = "dist_cp.async_save(state, checkpoint_id=path)"};
    case Work::collecting:
      return {.text =
                  "Collect at moments of your choice, not in each step. Caveat: cycles that "
                  "hold tensors keep their memory until then.",
              .before = "gc.collect()  # in each step",
              .after = "gc.disable()\nif step % 500 == 0: gc.collect()"};
    case Work::sleeping:
      return {.text = "Do not sleep in the loop; wait for an event or a queue.",
              .before = "while not ready(): time.sleep(0.01)",
              .after = "queue.get()"};
    case Work::freeing:
      return fix_of_freeing(rules);
    default:
      return fix_of_moment(rules, moment);
  }
}

/// In how many of the counted steps it is.
std::size_t steps_of(const RuleContext& rules, const Site& site) {
  std::set<const Step*> steps;
  for (const Interval& stretch : site.stretches) steps.insert(rules.step_at(stretch.begin));
  steps.erase(nullptr);
  return steps.size();
}

/// ", in 1 of 8 steps", unless it is in all of them.
std::string steps_text(const RuleContext& rules, const Site& site) {
  const std::size_t steps = steps_of(rules, site);
  if (steps == 0 || steps >= rules.steps.size()) return {};
  return ", in " + std::to_string(steps) + " of " + counted_noun(rules.steps.size(), "step");
}

/// The operators right before a stretch and after it, or invalid. Annotations are passed over, a
/// few of them.
std::pair<SliceId, SliceId> neighbours(const Trace& trace, const Nesting::Thread& thread,
                                       const Interval& stretch) {
  constexpr int kPassedOver = 64;
  const auto start_of = [&trace](SliceId at) { return trace.slices.start[at.row()]; };
  const auto is_op = [&trace](SliceId at) { return trace.kind(at) == SliceKind::cpu_op; };
  SliceId before;
  auto at = std::ranges::lower_bound(thread.slices, stretch.begin, {}, start_of);
  for (int i = 0; i < kPassedOver && !before.valid() && at != thread.slices.begin(); ++i) {
    --at;
    if (is_op(*at)) before = *at;
  }
  SliceId after;
  at = std::ranges::lower_bound(thread.slices, stretch.end, {}, start_of);
  for (int i = 0; i < kPassedOver && !after.valid() && at != thread.slices.end(); ++i, ++at)
    if (is_op(*at)) after = *at;
  return {before, after};
}

/// Where in a step something is: between operators of these names, or one of them invalid.
using Between = std::pair<StringId, StringId>;

/// How often operators of two names follow each other in counted steps, as the thread starts them.
std::map<Between, std::size_t> followings(const RuleContext& rules, const Nesting::Thread& thread) {
  const Trace& trace = rules.trace();
  CountedTime counted(rules);
  std::map<Between, std::size_t> times;
  SliceId last;
  for (const SliceId op : thread.slices) {
    if (trace.kind(op) != SliceKind::cpu_op) continue;
    const Time start = trace.slices.start[op.row()];
    const bool inside = last.valid() && start < trace.slices.end(last);
    if (last.valid() && !inside && counted.holds(start))
      ++times[{trace.slices.name[last.row()], trace.slices.name[op.row()]}];
    last = op;
  }
  return times;
}

/// In how many counted steps the function of a frame runs at all.
std::size_t steps_with(const RuleContext& rules, SliceId frame) {
  const Trace& trace = rules.trace();
  const StringId name = trace.slices.name[frame.row()];
  std::set<const Step*> steps;
  for (const Nesting::Thread& thread : rules.context.nesting().frames) {
    for (const SliceId other : thread.slices) {
      if (trace.slices.name[other.row()] != name) continue;
      const Step* const step = rules.step_at(trace.slices.start[other.row()]);
      // One around several steps, such as the program itself, is in all of them.
      if (step == nullptr || trace.slices.end(other) > step->window.end) return rules.steps.size();
      steps.insert(step);
    }
  }
  return steps.size();
}

/// Of the main thread: is most of it between operators between which half of the steps do not
/// stand still, or which mostly follow each other at once? What a step does is done at one place in
/// each of them, and what a loop does in each of its rounds.
bool wanders(const RuleContext& rules, const Site& site, std::size_t among) {
  const Nesting::Thread* const thread =
      thread_on(rules.context.nesting().work, rules.accounting.main_thread);
  if (thread == nullptr) return false;
  struct Place {
    std::set<const Step*> steps;
    std::set<SliceId> after;  // A stretch may be in pieces.
    Duration time{};
  };
  const Trace& trace = rules.trace();
  const auto name_of = [&trace](SliceId op) {
    return op.valid() ? trace.slices.name[op.row()] : StringId();
  };
  std::map<Between, Place> places;
  Duration all{};
  for (const Interval& stretch : site.stretches) {
    const auto [before, after] = neighbours(trace, *thread, stretch);
    Place& place = places[{name_of(before), name_of(after)}];
    place.steps.insert(rules.step_at(stretch.begin));
    place.after.insert(after);
    place.time += stretch.length();
    all += stretch.length();
  }
  const std::map<Between, std::size_t> times = followings(rules, *thread);
  const auto often = [&times](const Between& between, const Place& place) {
    const auto found = times.find(between);
    return found == times.end() || kRoundsPerGap * place.after.size() >= found->second;
  };
  Duration usual{};
  for (const auto& [between, place] : places) {
    const bool in_steps = among < kStepsToCompare || 2 * place.steps.size() >= among;
    if (in_steps && often(between, place)) usual += place.time;
  }
  return 2 * usual < all;
}

/// Without a device: is it in few of the steps, or now here, now there, and nothing shows what runs
/// then?
bool is_rare(const RuleContext& rules, const Site& site, Work work) {
  if (rules.device >= 0 || work != Work::other || site.line.valid()) return false;
  const std::size_t among = site.frame.valid() ? steps_with(rules, site.frame) : rules.steps.size();
  if (among >= kStepsToCompare && 2 * steps_of(rules, site) < among) return true;
  return wanders(rules, site, among);
}

/// Bytes of the largest tensor that an operator was given.
double largest_tensor(const Trace& trace, SliceId op) {
  const std::optional<OpArguments> arguments =
      op.valid() ? arguments_of(trace, op) : std::optional<OpArguments>();
  if (!arguments) return 0;
  double most = 0;
  for (const TensorArgument& tensor : arguments->tensors()) most = std::max(most, tensor.bytes());
  for (const TensorListArgument& list : arguments->lists()) most = std::max(most, list.bytes);
  return most;
}

/// Without a device: does most of it follow operators on large tensors, in the program's own code
/// and no function that it calls, and was memory not recorded? Then a tensor that is dropped may be
/// what is freed there.
bool may_free(const RuleContext& rules, const Site& site, Work work) {
  const Trace& trace = rules.trace();
  if (rules.device >= 0 || work != Work::other || site.line.valid() || trace.memory.size() > 0)
    return false;
  const Nesting& nesting = rules.context.nesting();
  const Nesting::Thread* const thread = thread_on(nesting.work, rules.accounting.main_thread);
  const Nesting::Thread* const frames = thread_on(nesting.frames, rules.accounting.main_thread);
  if (thread == nullptr) return false;
  Duration all{};
  Duration after_large{};
  for (const Interval& stretch : site.stretches) {
    all += stretch.length();
    if (largest_tensor(trace, neighbours(trace, *thread, stretch).first) <
        static_cast<double>(kMuchFreed))
      continue;
    const SliceId inside = frames == nullptr
                               ? SliceId()
                               : innermost_at(trace, nesting, *frames, stretch.begin, stretch.end);
    const bool own =
        !site.frame.valid() ||
        (inside.valid() && trace.slices.name[inside.row()] == trace.slices.name[site.frame.row()]);
    if (own) after_large += stretch.length();
  }
  return 2 * after_large > all;
}

/// Of time that has no name, what the thread's processor time shows of it, as shares of the step.
std::optional<PythonParts> parts_of(const RuleContext& rules, const Site& site) {
  if (rules.device >= 0 || site.frame.valid() || site.line.valid() || site.range.valid()) return {};
  const auto named = std::ranges::max_element(site.by_work) - site.by_work.begin();
  const std::optional<ThreadTime> time = thread_time(rules.trace());
  if (static_cast<Work>(named) != Work::other || !time || time->wall <= Duration{}) return {};
  return python_parts(*time, rules.percent(site.time) / 100);
}

/// Did most of it go by without a processor, and is the rest too little to blame?
bool lacks_processor(const RuleContext& rules, const Site& site) {
  const std::optional<PythonParts> parts = parts_of(rules, site);
  if (!parts) return false;
  const double rest = parts->computing + parts->waiting;
  return parts->preempted > rest && 100 * rest < kLeastBesideWaits;
}

/// "; for 20.0 % of the step the thread had no processor in them", where that is most of it.
std::string processor_text(const RuleContext& rules, const Site& site) {
  const std::optional<PythonParts> parts = parts_of(rules, site);
  if (!parts || parts->preempted <= parts->computing + parts->waiting) return {};
  return "; for " + percent_text(100 * parts->preempted) +
         " of the step the thread had no processor in them";
}

/// Where nothing shows what runs in them, but the thread was seen waiting for most of that time:
/// where it did.
std::optional<std::string> seen_waiting(const RuleContext& rules, const Site& site) {
  if (rules.device >= 0 || site.frame.valid() || site.range.valid()) return {};
  const std::optional<ThreadTime> time = thread_time(rules.trace());
  if (!time || time->places.empty()) return {};
  // Of the time outside of operators, waits come first: they compute.
  const double waiting =
      static_cast<double>(to_ns(time->waiting)) / static_cast<double>(to_ns(time->wall));
  if (100 * waiting <= rules.percent(site.time) / 2) return {};
  return time->places.front().where;
}

/// "; NAME and what it calls take 36 ms", where frames were recorded.
std::string function_text(const RuleContext& rules, const Site& site, TrackId track,
                          Duration inside) {
  if (!site.frame.valid()) {
    if (const auto where = seen_waiting(rules, site))
      return "; the thread was seen waiting, most often at " + *where;
    if (site.line.valid()) {
      return "; by recorded lines the thread is in " +
             std::string(statement_name(rules.trace().text(site.line)).function);
    }
    return has_frames(rules) || has_lines(rules, track)
               ? "; no line of the program is around them"
               : "; lines not recorded: use " + recording_with(rules.trace(), "with_stack=True");
  }
  const std::string_view function = parse_place(rules.trace().name(site.frame)).function;
  if (function.empty()) return {};
  return "; " + std::string(function) + " and what it calls take " + per_step(rules, inside) +
         " of them";
}

/// The thread that the first of the stretches is on.
TrackId track_of(const Site& site, const std::vector<Stretch>& all) {
  const auto at = std::ranges::find(all, site.stretches.front().begin,
                                    [](const Stretch& one) { return one.interval.begin; });
  return at == all.end() ? all.front().track : at->track;
}

/// The title's first words.
std::string what_happens(const RuleContext& rules, const Site& site, bool frees, bool may_free,
                         bool rare) {
  if (frees)
    return rules.device >= 0 ? "The device waits while the host frees memory"
                             : "Memory is freed between operators";
  if (rules.device >= 0) return "The device waits for Python";
  if (rare) return "The main thread stands still now and then between operators";
  if (may_free) return "Memory is freed or Python runs between operators";
  if (!seen_waiting(rules, site)) return "Python runs between operators";
  return rules.context.steps().requests ? "The thread that answers waits between operators"
                                        : "The main thread waits between operators";
}

/// What shows that a place frees memory.
std::string frees_text(const Site& site) {
  return "; " + bytes_text(site.freed) + " in " + counted_noun(site.frees, "tensor") +
         " are given back in them, from begin to end";
}

/// Why it may be something else, or less.
std::string doubts(const RuleContext& rules, bool frees, bool rare, bool may_free) {
  if (may_free)
    return "Which of both it is shows where memory is recorded: the operators before work on large "
           "tensors, and giving those back takes long.";
  if (rare)
    return "Other steps have no such gap: a thread that waits for a processor, or a garbage "
           "collection, looks the same.";
  if (has_frames(rules))
    return "Recording Python stacks makes Python slower than it is: compare the step time without.";
  if (frees)
    return "Recording each allocation makes freeing slower: compare the step time without.";
  return rules.trace().memory.size() == 0
             ? "What other libraries do, freeing of large tensors, or waiting for another process, "
               "looks the same."
             : "What other libraries do, or waiting for another process, looks the same.";
}

Finding make(const RuleContext& rules, Site& site, const std::vector<Stretch>& all,
             Duration inside) {
  const auto work =
      static_cast<Work>(std::ranges::max_element(site.by_work) - site.by_work.begin());
  const std::string range =
      site.range.valid() ? std::string(rules.trace().name(site.range)) : std::string();
  const TrackId track = track_of(site, all);
  const std::string place = site.range.valid()  ? range
                            : site.line.valid() ? rules.sites.place_of(site.line)
                                                : rules.sites.of(site.frame);
  const std::string_view done = kDone[static_cast<std::size_t>(work)];
  Finding finding;
  const bool frees = work == Work::freeing;
  const bool rare = is_rare(rules, site, work);
  const bool freeing = !rare && may_free(rules, site, work);
  finding.key = !place.empty()         ? std::string_view(place)
                : frees                ? kFreeing
                : work == Work::saving ? kSaving
                                       : std::string_view();
  finding.title = what_happens(rules, site, frees, freeing, rare) +
                  (place.empty() ? "" : (range.empty() ? " at " : " in ") + place) +
                  (done.empty() || frees ? "" : " (" + std::string(done) + ")") + ": " +
                  per_step(rules, site.time);
  finding.family = Family::host;
  finding.weight = weight_of(rules, site.time);
  // That a range is around it does not show what runs there.
  const bool known =
      !place.empty() && (site.line.valid() || site.frame.valid() || work != Work::other);
  finding.confidence = rare                ? Confidence::low
                       : known && !freeing ? Confidence::high
                                           : Confidence::medium;
  finding.effort = Effort::refactoring;
  Evidence evidence;
  evidence.text = counted_noun(site.stretches.size(), "gap") + " in no operator, the longest of " +
                  duration_text(std::ranges::max(site.stretches, {}, &Interval::length).length()) +
                  steps_text(rules, site) + (frees ? frees_text(site) : "") +
                  processor_text(rules, site) + function_text(rules, site, track, inside);
  evidence.where = std::ranges::max(site.stretches, {}, &Interval::length);
  if (range.empty()) evidence.location = place;
  const SliceId shown = site.frame.valid() ? site.frame : site.range;
  if (shown.valid()) evidence.slices.push_back(shown);
  finding.evidence.push_back(std::move(evidence));
  if (!site.line.valid()) {
    if (std::optional<Evidence> line = sampled_line(rules, site.stretches, track))
      finding.evidence.push_back(std::move(*line));
  }
  finding.counter_evidence = doubts(rules, frees, rare, freeing);
  const Moment moment = moment_of(rules, site, all);
  if (moment == Moment::in_optimizer && work == Work::other) finding.cause = "optimizer";
  finding.fix = rare                                               ? fix_of_rare(rules)
                : freeing                                          ? fix_of_either(rules)
                : work == Work::other && seen_waiting(rules, site) ? fix_of_waiting(rules)
                                                                   : fix_of(rules, work, moment);
  if (const Duration starting = starting_workers(rules, site, all);
      rules.percent(starting) >= kLeastPercentOfSite) {
    finding.evidence.push_back(
        {.text = "a loader's workers start meanwhile: " + per_step(rules, starting),
         .slices = {},
         .where = {},
         .location = {}});
    if (2 * starting > site.time && work == Work::other) {
      finding.title = "A loader's workers start between operators: " + per_step(rules, site.time);
      finding.cause = kWorkerStarts;
      finding.fix = fix_of_worker_starts();
    }
  }
  finding.verify =
      rules.device >= 0 ? "fathom gaps TRACE --filter 'cause=python'" : "fathom accounting TRACE";
  RemovedTime removed(rules);
  for (const Interval& stretch : site.stretches) {
    const auto at = std::ranges::lower_bound(all, stretch.begin, {},
                                             [](const Stretch& one) { return one.interval.begin; });
    if (at != all.end() && at->gap != UINT32_MAX) {
      removed.add(work_around(rules, stretch, at->track), rules.counted(stretch));
    }
  }
  if (rules.device < 0) {
    for (const Claim& claim : site.claims) removed.add(claim.slice, claim.time);
  }
  removed.to(finding.edits);
  finding.claims = std::move(site.claims);
  finding.assumption =
      frees ? "nothing is freed there" : "this work is done elsewhere, ahead of the loop";
  finding.pessimism = 0.5;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.context.nesting().work.empty()) return Abstention{"no host events were recorded"};
  if (device_unrecorded(rules)) return Abstention{"most kernels were not recorded"};
  if (rules.device < 0 && only_annotations(rules)) {
    return Abstention{"only annotations were recorded, nothing that runs inside them"};
  }
  if (only_calls(rules)) {
    if (has_frames(rules)) return Abstention{"no operator was recorded for Python to be between"};
    return Abstention{
        "only calls of the runtime were recorded, not what the program does between them"};
  }
  const Duration shortest = duration_ns(
      static_cast<std::int64_t>(kLeastShareOfStep * static_cast<double>(to_ns(rules.window())) /
                                static_cast<double>(step_count(rules))));
  const Duration least = std::max(kLeastStretch, shortest);
  const std::vector<Stretch> stretches =
      rules.device >= 0 ? on_device(rules, least) : on_main_thread(rules, least);
  Duration sum{};
  for (const Stretch& stretch : stretches) sum += rules.counted(stretch.interval);
  if (rules.percent(sum) < kLeastPercent) return std::vector<Finding>{};
  std::map<std::string, Site> sites;  // By place: several functions may share a line.
  SiteFinder finder(rules);
  for (const Stretch& stretch : stretches) finder.look(stretch, sites);
  std::vector<Site*> worst;
  for (auto& [place, site] : sites) {
    if (rules.percent(site.time) >= kLeastPercentOfSite && !lacks_processor(rules, site))
      worst.push_back(&site);
  }
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const Site* site) { return site->time; });
  if (worst.size() > kMostSites) worst.resize(kMostSites);
  std::vector<Finding> findings;
  findings.reserve(worst.size());
  for (Site* const site : worst) {
    const Duration inside =
        site->frame.valid() ? finder.inside(site->frame, stretches) : Duration{};
    findings.push_back(make(rules, *site, stretches, inside));
  }
  return findings;
}

}  // namespace
}  // namespace host_work_between_launches_rule

Rule host_work_between_launches() {
  return {.id = "host-work-between-launches",
          .title = "Python work that the device waits for",
          .doc = host_work_between_launches_rule::kDoc,
          .check = host_work_between_launches_rule::check};
}

}  // namespace fathom
