// Finds the ranges and operators around the passes of each step.
#include "analysis/structure/phases_around.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/structure/forward_ops.h"
#include "analysis/structure/program_ranges.h"
#include "analysis/structure/step_marks.h"
#include "analysis/structure/stretches.h"

namespace fathom {
namespace {

/// A stretch of a step outside of its passes.
struct Zone {
  Interval interval;
  bool before = false;  ///< Before the first forward pass of its step.
  bool after = false;   ///< Behind the last backward pass of a step that is marked.
};

/// The sequence numbers of nodes that a backward pass ran: ascending. Those of several forward
/// threads together: a number that one of them has counts for all.
std::vector<std::int64_t> numbers_of_nodes(const Trace& trace, const Nesting& nesting) {
  std::vector<std::int64_t> numbers;
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) {
      const SequenceOf sequence = sequence_of(trace, slice);
      if (sequence.is_backward()) numbers.push_back(sequence.sequence);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// May this name be of a range that somebody put around a part of a program? The names of passes
/// and of what libraries annotate are none.
bool names_a_part(std::string_view name) {
  return !is_named_annotation(name) && !is_library_annotation(name) &&
         name.find("::") == std::string_view::npos &&
         phase_of_name(name, SliceKind::user_annotation) == Phase::other;
}

/// When the thread made nodes that a backward pass ran: the last operator with each of the numbers.
std::vector<Time> node_times(const Trace& trace, const Nesting::Thread& thread,
                             const std::vector<std::int64_t>& numbers) {
  std::vector<Time> times;
  std::int64_t number = kAbsent;
  Time last{};
  const auto take = [&] {
    if (number != kAbsent && std::ranges::binary_search(numbers, number)) times.push_back(last);
  };
  for (const SliceId slice : thread.slices) {
    if (trace.kind(slice) != SliceKind::cpu_op) continue;
    const SequenceOf sequence = sequence_of(trace, slice);
    if (!sequence.is_forward()) continue;
    if (sequence.sequence != number) take();
    number = sequence.sequence;
    last = trace.slices.start[slice.row()];
  }
  take();
  return times;
}

/// Of ascending disjoint stretches, does one contain a moment? Asked in ascending order.
class Within {
 public:
  explicit Within(const std::vector<Interval>& stretches) : stretches_(stretches) {}
  bool holds(Time time) {
    while (next_ < stretches_.size() && stretches_[next_].end <= time) ++next_;
    return next_ < stretches_.size() && stretches_[next_].begin <= time;
  }

 private:
  const std::vector<Interval>& stretches_;
  std::size_t next_ = 0;
};

class Around {
 public:
  Around(const Trace& trace, const Nesting& nesting, Phases& phases)
      : trace_(trace),
        nesting_(nesting),
        phases_(phases),
        numbers_(numbers_of_nodes(trace, nesting)),
        marks_(find_step_marks(trace)),
        places_(trace.strings.size(), kUnknown),
        modules_(trace.strings.size()) {
    for (const Nesting::Thread& thread : nesting.work)
      threads_[trace.tracks[thread.track.row()].process].push_back(&thread);
  }

  void mark() {
    if (numbers_.empty()) return;
    for (std::size_t i = 0; i < marks_.steps.size();) {
      const StringId id = marks_.steps[i].process;
      std::vector<Interval> steps;
      for (; i < marks_.steps.size() && marks_.steps[i].process == id; ++i) {
        const bool last = i + 1 == marks_.steps.size() || marks_.steps[i + 1].process != id;
        const Interval& host = marks_.steps[i].host;
        const Time next = last ? host.end : marks_.steps[i + 1].host.begin;
        if (host.begin < next) steps.push_back({host.begin, next});
      }
      mark_process(id, steps);
    }
  }

 private:
  void mark_process(StringId process, const std::vector<Interval>& steps) {
    std::vector<const Nesting::Thread*> threads;
    if (process.valid()) {
      const auto own = threads_.find(process);
      if (own != threads_.end()) threads = own->second;
    } else {  // Steps of a whole trace have no process.
      for (const Nesting::Thread& thread : nesting_.work) threads.push_back(&thread);
    }
    const std::vector<Interval> backward = backward_of(threads);
    if (backward.empty()) return;
    for (const Nesting::Thread* const thread : threads) {
      const std::vector<Time> nodes = node_times(trace_, *thread, numbers_);
      if (nodes.empty()) continue;
      mark_thread(*thread, zones_of(steps, backward, nodes));
    }
  }

  /// What runs nodes of the backward graph, on all threads: ascending, disjoint.
  [[nodiscard]] std::vector<Interval> backward_of(
      const std::vector<const Nesting::Thread*>& threads) const {
    std::vector<Interval> found;
    for (const Nesting::Thread* const thread : threads) {
      for (const SliceId slice : thread->slices) {
        if (phases_[slice] != Phase::backward) continue;
        const SliceId parent = nesting_.parent[slice.row()];
        if (parent.valid() && phases_[parent] == Phase::backward) continue;
        found.push_back(interval_of(trace_, slice));
      }
    }
    return merged(std::move(found));
  }

  /// The zones of the steps in which this thread made nodes. O(nodes * log n).
  [[nodiscard]] std::vector<Zone> zones_of(const std::vector<Interval>& steps,
                                           const std::vector<Interval>& backward,
                                           const std::vector<Time>& nodes) const {
    std::vector<Zone> zones;
    for (auto node = nodes.begin(); node != nodes.end();) {
      const auto after = std::ranges::upper_bound(steps, *node, {}, &Interval::begin);
      if (after == steps.begin() || *node >= std::prev(after)->end) {
        ++node;
        continue;
      }
      const Interval& step = *std::prev(after);
      const auto end = std::ranges::lower_bound(node, nodes.end(), step.end);
      add_zones(step, backward, {node, end}, zones);
      node = end;
    }
    return zones;
  }

  /// Of one step: before the first node, and from each backward pass to the next node or to the
  /// end. One that begins with a backward pass, or has none, is left out.
  void add_zones(const Interval& step, const std::vector<Interval>& backward,
                 std::span<const Time> nodes, std::vector<Zone>& zones) const {
    const auto first = std::ranges::lower_bound(backward, step.begin, {}, &Interval::begin);
    if (first == backward.end() || first->begin >= step.end || first->begin <= nodes.front())
      return;
    zones.push_back({.interval = {step.begin, nodes.front()}, .before = true});
    // The end of the last backward pass that began before.
    const auto done_at = [&](Time at) {
      const auto next = std::ranges::lower_bound(backward, at, {}, &Interval::begin);
      return next == backward.begin() ? Time::min() : std::prev(next)->end;
    };
    // What a backward pass itself makes nodes for is of no forward pass.
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      const Time done = done_at(nodes[i]);
      if (done > nodes[i - 1] && done < nodes[i]) zones.push_back({.interval = {done, nodes[i]}});
    }
    const Time done = done_at(step.end);
    const bool marked = marks_.source != StepSource::whole_trace;
    if (done > nodes.back() && done < step.end)
      zones.push_back({.interval = {done, step.end}, .after = marked});
  }

  /// Outermost frames of modules on a thread: ascending, disjoint.
  [[nodiscard]] std::vector<Interval> module_calls(TrackId track) {
    std::vector<Interval> calls;
    const Nesting::Thread* const frames = thread_on(nesting_.frames, track);
    if (frames == nullptr) return calls;
    for (const SliceId frame : frames->slices) {
      std::uint8_t& is_module = modules_[trace_.slices.name[frame.row()].row()];
      if (is_module == 0) is_module = is_module_frame(trace_.name(frame)) ? 2 : 1;
      const Interval own{trace_.slices.start[frame.row()], trace_.slices.end(frame)};
      if (is_module == 2 && (calls.empty() || own.begin >= calls.back().end)) calls.push_back(own);
    }
    return calls;
  }

  void mark_thread(const Nesting::Thread& thread, const std::vector<Zone>& zones) {
    const std::vector<Interval> calls = module_calls(thread.track);
    Within modules(calls);
    std::size_t next = 0;
    Time named = Time::min();     // Until then inside a range whose name is of the forward pass.
    Time in_range = Time::min();  // Until then inside a range around the passes.
    std::uint8_t place = 0;       // Of that range.
    for (const SliceId slice : thread.slices) {
      const Interval own{trace_.slices.start[slice.row()], trace_.slices.end(slice)};
      while (next < zones.size() && zones[next].interval.end <= own.begin) ++next;
      if (next == zones.size()) return;
      const Zone& zone = zones[next];
      if (own.begin < zone.interval.begin || own.end > zone.interval.end) continue;
      const bool annotation = trace_.kind(slice) == SliceKind::user_annotation;
      Phase& phase = phases_.of[slice.row()];
      if (annotation && phase == Phase::forward) named = std::max(named, own.end);
      if (own.begin >= in_range && annotation && is_part(slice)) {
        in_range = own.end;
        place = place_of(slice, zone);
      }
      const bool inside = own.begin < in_range;
      if (inside && place != 0) {
        if (phases_.range_of.empty()) phases_.range_of.resize(trace_.slices.size());
        phases_.range_of[slice.row()] = place;
      }
      if (phase != Phase::forward || own.begin < named) continue;
      if (inside || (zone.after && !modules.holds(own.begin))) phase = Phase::other;
    }
  }

  /// An outermost range of the program: in nothing but other ranges and steps.
  [[nodiscard]] bool is_part(SliceId slice) {
    const SliceId parent = nesting_.parent[slice.row()];
    const bool outside = !parent.valid() || trace_.kind(parent) == SliceKind::user_annotation;
    if (!outside || phases_[slice] != Phase::other) return false;
    std::uint8_t& known = places_[trace_.slices.name[slice.row()].row()];
    if (known == kUnknown) known = names_a_part(trace_.name(slice)) ? kUnplaced : kNoPart;
    return known != kNoPart;
  }

  /// Counted from 1; 0 where there are too many.
  [[nodiscard]] std::uint8_t place_of(SliceId slice, const Zone& zone) {
    const StringId name = trace_.slices.name[slice.row()];
    std::uint8_t& known = places_[name.row()];
    if (known != kUnplaced) return known;
    if (phases_.ranges.size() == Phases::kMostRanges) return 0;
    phases_.ranges.push_back({.name = name, .before = zone.before});
    known = static_cast<std::uint8_t>(phases_.ranges.size());
    return known;
  }

  static constexpr std::uint8_t kUnknown = 0xff;
  static constexpr std::uint8_t kNoPart = 0xfe;
  static constexpr std::uint8_t kUnplaced = 0xfd;
  static_assert(Phases::kMostRanges < kUnplaced);

  const Trace& trace_;
  const Nesting& nesting_;
  Phases& phases_;
  std::vector<std::int64_t> numbers_;
  StepMarks marks_;
  std::vector<std::uint8_t> places_;  // By StringId row: the place of a range, or one of the above.
  std::vector<std::uint8_t> modules_;  // By StringId row: 0: not looked at, 1: no module, 2: one.
  std::map<StringId, std::vector<const Nesting::Thread*>> threads_;  // By process.
};

bool has_backward(const Phases& phases) {
  const std::span<const Phase> all = phases.of.span();
  return std::find(all.begin(), all.end(), Phase::backward) != all.end();
}

}  // namespace

void mark_around_passes(const Trace& trace, const Nesting& nesting, Phases& phases) {
  const bool numbered =
      phases.evidence[static_cast<std::size_t>(PhaseEvidence::sequence_numbers)] != 0;
  if (numbered && has_backward(phases)) Around(trace, nesting, phases).mark();
}

}  // namespace fathom
