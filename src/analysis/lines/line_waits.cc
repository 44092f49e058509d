// Charges waits to lines: first those with a beginning and an end, then what samples found beside.
#include "analysis/lines/line_waits.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/accounting/syncs.h"
#include "analysis/lines/line_owners.h"
#include "analysis/lines/line_runs.h"
#include "analysis/structure/stretches.h"
#include "base/base_name.h"

namespace fathom {
namespace {

constexpr std::string_view kLoader = "data loader";
constexpr std::string_view kFetch = "enumerate(DataLoader)#";
/// Its batches are made by the loop itself, in lines of their own.
constexpr std::string_view kNoWorkers = "_SingleProcess";

using Thread = std::pair<std::int64_t, std::int64_t>;  // pid, tid

/// Sorted and disjoint once all are there.
class Stretches {
 public:
  void add(Interval interval) { all_.push_back(interval); }
  void join() { all_ = merged(std::move(all_)); }
  [[nodiscard]] Duration within(Interval stretch) const {
    Duration sum{};
    auto at = std::ranges::partition_point(
        all_, [&stretch](const Interval& one) { return one.end <= stretch.begin; });
    for (; at != all_.end() && at->begin < stretch.end; ++at)
      sum += std::min(at->end, stretch.end) - std::max(at->begin, stretch.begin);
    return sum;
  }

 private:
  std::vector<Interval> all_;
};

/// The statements of the recording, by file and line.
class Statements {
 public:
  explicit Statements(const Trace& trace) : trace_(trace) {
    for (const LineTime& line : trace.lines) add(line);
    for (const LinePart& part : trace.line_parts) add(part.time);
    for (auto& [file, rows] : files_) {
      std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(row.first, row.last); });
      const auto same = [](const Row& one, const Row& other) {
        return std::tie(one.first, one.last, one.function) ==
               std::tie(other.first, other.last, other.function);
      };
      rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
      named_.emplace(base_name(rows.front().file), &rows);
    }
    // Callers come first.
    for (const StackFrame& frame : trace.stack_frames) {
      const Row* own =
          frame.line > 0 ? find(frame.file, static_cast<std::uint32_t>(frame.line)) : nullptr;
      if (own == nullptr && frame.parent < of_frame_.size()) own = of_frame_[frame.parent];
      of_frame_.push_back(own);
    }
  }

  /// The innermost statement of a stack; of none, one whose `first` is 0.
  [[nodiscard]] WaitingLine of(const StackSample& sample) const {
    const Row* const found = sample.frame == kNoFrame ? nullptr : of_frame_[sample.frame];
    if (found == nullptr) return {.pid = sample.pid};
    return {sample.pid, found->file, found->first, found->function};
  }

 private:
  struct Row {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::string_view file;
    std::string_view function;
  };

  void add(const LineTime& line) {
    files_[line.file.value].push_back(
        {line.first, line.last, trace_.text(line.file), trace_.text(line.function)});
  }
  /// The statement that begins last of those around a line. Longer ones than that are headers of
  /// nothing: the search must not cost more.
  [[nodiscard]] const Row* find(StringId file, std::uint32_t line) {
    constexpr std::ptrdiff_t kFarthest = 64;
    const std::vector<Row>* const rows = rows_of(file);
    if (rows == nullptr) return nullptr;
    auto at = std::ranges::upper_bound(*rows, line, {}, &Row::first);
    for (std::ptrdiff_t tried = 0; at != rows->begin() && tried < kFarthest; ++tried) {
      --at;
      if (line <= at->last) return &*at;
    }
    return nullptr;
  }

  /// Code may name its file by a relative path, statements do not.
  const std::vector<Row>* rows_of(StringId file) {
    const auto [at, added] = found_.try_emplace(file.value, nullptr);
    if (!added) return at->second;
    const auto same = files_.find(file.value);
    if (same != files_.end()) return at->second = &same->second;
    const std::string_view name = trace_.text(file);
    if (name.empty() || name.starts_with('/')) return nullptr;
    constexpr int kMost = 64;  // files of one name
    auto next = named_.lower_bound(base_name(name));
    for (int tried = 0; tried < kMost && next != named_.end(); ++tried, ++next) {
      const std::string_view whole = next->second->front().file;
      if (next->first != base_name(name)) break;
      if (whole.size() > name.size() && whole.ends_with(name) &&
          whole[whole.size() - name.size() - 1] == '/')
        return at->second = next->second;
    }
    return nullptr;
  }

  const Trace& trace_;
  std::map<std::uint32_t, std::vector<Row>> files_;
  std::multimap<std::string_view, const std::vector<Row>*> named_;
  std::map<std::uint32_t, const std::vector<Row>*> found_;  // by the file of a frame
  std::vector<const Row*> of_frame_;                        // the innermost statement of it
};

class Charging {
 public:
  explicit Charging(const Context& context)
      : context_(context),
        trace_(context.trace),
        selector_(context.selector()),
        runs_(context.trace),
        owners_(context, runs_) {}

  LineWaits take() {
    syncs();
    loaders();
    samples();
    return std::move(waits_);
  }

 private:
  void charge(const WaitingLine& line, std::string_view cause, Duration time) {
    if (time > Duration{}) waits_.lines[line][cause] += time;
  }
  [[nodiscard]] WaitingLine owner_of(SliceId slice) const {
    const LineShares::Key key = owners_.of(slice).line;
    const Track& track = trace_.track(slice);
    if (!key.statement.valid()) return {.pid = track.pid};
    const StatementName name = statement_name(trace_.text(key.statement));
    return {key.pid, name.file, name.first, name.function};
  }
  Stretches& known_of(SliceId slice) {
    const Track& track = trace_.track(slice);
    return known_[{track.pid, track.tid}];
  }

  void syncs() {
    for (const SyncCall& sync : compute_syncs(context_)) {
      waits_.known = true;
      known_of(sync.call).add(interval_of(trace_, sync.call));
      if (!selector_.host(trace_, sync.call)) continue;
      if (selector_.device && sync.device != selector_.device) continue;
      charge(owner_of(sync.call), trace_.name(sync.call), trace_.slices.duration[sync.call.row()]);
    }
    for (auto& [thread, stretches] : known_) stretches.join();
  }

  /// What waits for a device inside of it, as a copy to it does, is that call's.
  void loaders() {
    std::vector<SliceId> fetches;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId slice(row);
      if (trace_.kind(slice) != SliceKind::user_annotation ||
          trace_.track(slice).kind != TrackKind::host_thread)
        continue;
      const std::string_view name = trace_.name(slice);
      if (!name.starts_with(kFetch) || name.find(kNoWorkers) != name.npos) continue;
      fetches.push_back(slice);
    }
    std::ranges::sort(fetches, {}, [this](SliceId slice) {
      return std::tuple(trace_.slices.track[slice.row()].value, trace_.slices.start[slice.row()],
                        -trace_.slices.duration[slice.row()]);
    });
    std::map<Thread, Time> until;
    for (const SliceId slice : fetches) {
      waits_.known = true;
      const Track& track = trace_.track(slice);
      Interval fetch = interval_of(trace_, slice);
      // Of two recorders that saw the same, one counts.
      Time& last = until.try_emplace({track.pid, track.tid}, Time::min()).first->second;
      fetch.begin = std::max(fetch.begin, last);
      if (fetch.end <= fetch.begin) continue;
      last = fetch.end;
      if (!selector_.host(trace_, slice)) continue;
      charge(owner_of(slice), kLoader, fetch.length() - known_of(slice).within(fetch));
    }
    for (const SliceId slice : fetches) known_of(slice).add(interval_of(trace_, slice));
    for (auto& [thread, stretches] : known_) stretches.join();
  }

  /// A thread that was asked when its wait was over waits for "none".
  std::string_view cause_of(const StackSample& sample) const {
    const std::string_view cause = trace_.text(sample.cause);
    return cause.empty() || cause == "none" ? "other" : cause;
  }

  /// A sample has the length of a wait, not its place.
  void samples() {
    if (trace_.stack_samples.empty()) return;
    waits_.known = true;
    const Statements statements(trace_);
    for (const StackSample& sample : trace_.stack_samples) {
      if (sample.blocked <= Duration{} || !selector_.time(sample.time)) continue;
      const Duration all = sample.on_cpu + sample.queued + sample.blocked;
      Duration rest = sample.blocked;
      const auto known = known_.find({sample.pid, sample.tid});
      if (known != known_.end()) rest -= known->second.within({sample.time - all, sample.time});
      charge(statements.of(sample), cause_of(sample), rest);
    }
  }

  const Context& context_;
  const Trace& trace_;
  Selector selector_;
  LineRuns runs_;
  LineOwners owners_;
  std::map<Thread, Stretches> known_;  ///< Waits with a beginning and an end.
  LineWaits waits_;
};

}  // namespace

LineWaits compute_line_waits(const Context& context) { return Charging(context).take(); }

}  // namespace fathom
