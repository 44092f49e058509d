// Accounts for the main thread's time in traces without a device.
// Where it is in no operator, its Python frames, the backward thread, and the threads that
// communicate for it decide.
#include "analysis/accounting/main.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "analysis/accounting/walk.h"
#include "analysis/structure/stretches.h"

namespace fathom {
namespace {

/// Ends of the names of frames that block: "threading.py(320): wait", "<built-in method acquire of
/// _thread.lock object at 0x…>".
constexpr auto kBlockingFiles = std::to_array<std::string_view>(
    {"threading.py(", "queue.py(", "selectors.py(", "multiprocessing/connection.py(",
     "multiprocessing/popen_fork.py(", "multiprocessing/popen_spawn_win32.py(",
     "concurrent/futures/_base.py(", "subprocess.py("});
constexpr auto kBlockingFunctions = std::to_array<std::string_view>(
    {": wait", ": join", ": get", ": put", ": acquire", ": select", ": poll", ": result",
     ": _wait_for_tstate_lock", ": recv", ": recv_bytes"});
constexpr auto kBlockingCalls = std::to_array<std::string_view>(
    {"<built-in method acquire of _thread.", "<built-in method poll of select.",
     "<built-in method select", "<built-in function sleep>", "<built-in function select>",
     "<built-in method sleep", "<built-in function waitpid>", "<built-in method waitpid",
     "<method 'acquire' of '_thread.", "<method 'poll' of 'select.",
     "<built-in function WaitForSingleObject", "<built-in function WaitForMultipleObjects",
     "<built-in function GetQueuedCompletionStatus"});

/// Stretches of a thread in blocking frames: sorted, disjoint.
std::vector<Interval> waits_of(const Trace& trace, const Nesting::Thread* frames) {
  std::vector<Interval> waits;
  if (frames == nullptr) return waits;
  std::vector<std::uint8_t> known(trace.strings.size());  // 0: not looked at, 1: no, 2: yes
  for (const SliceId frame : frames->slices) {
    std::uint8_t& blocks = known[trace.slices.name[frame.row()].row()];
    if (blocks == 0) blocks = is_waiting_frame(trace.name(frame)) ? 2 : 1;
    const Interval own{trace.slices.start[frame.row()], trace.slices.end(frame)};
    if (blocks == 1 || own.begin == own.end) continue;
    if (waits.empty() || own.begin >= waits.back().end) {
      waits.push_back(own);
    } else {
      waits.back().end = std::max(waits.back().end, own.end);
    }
  }
  return waits;
}

HostBucket bucket_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return HostBucket::forward;
    case Phase::backward:
      return HostBucket::backward;
    case Phase::optimizer:
      return HostBucket::optimizer;
    case Phase::communication:
      return HostBucket::communication;
    case Phase::data:
      return HostBucket::input;
    case Phase::other:
      break;
  }
  return HostBucket::other_operators;
}

/// The thread of the process that runs the backward pass for its main thread: the one with the most
/// root slices of that phase, or invalid.
TrackId backward_thread(const Context& context, TrackId main) {
  const Trace& trace = context.trace;
  TrackId found;
  std::size_t most = 0;
  for (const Nesting::Thread& thread : context.nesting().work) {
    if (thread.track == main) continue;
    if (trace.tracks[thread.track.row()].process != trace.tracks[main.row()].process) continue;
    const auto roots =
        static_cast<std::size_t>(std::ranges::count_if(thread.slices, [&](SliceId slice) {
          return !context.nesting().parent[slice.row()].valid() &&
                 context.phases()[slice] == Phase::backward;
        }));
    if (roots <= most) continue;
    most = roots;
    found = thread.track;
  }
  return found;
}

/// Stretches in which other threads of the main thread's process communicate: sorted, disjoint.
std::vector<Interval> communication_beside(const Context& context, TrackId main) {
  const Trace& trace = context.trace;
  std::vector<Interval> found;
  for (const Nesting::Thread& thread : context.nesting().work) {
    if (thread.track == main) continue;
    if (trace.tracks[thread.track.row()].process != trace.tracks[main.row()].process) continue;
    for (const SliceId slice : thread.slices) {
      if (context.nesting().parent[slice.row()].valid()) continue;
      if (context.phases()[slice] != Phase::communication) continue;
      found.push_back({trace.slices.start[slice.row()], trace.slices.end(slice)});
    }
  }
  return merged(std::move(found));
}

/// torch.compile writes the phases of its own work as operators.
bool is_compilation(std::string_view name) {
  return name == "dynamo" || name.ends_with("(dynamo_timed)");
}

/// Stretches in which a thread compiles: sorted, disjoint.
std::vector<Interval> compilations(const Trace& trace, const Nesting::Thread* work) {
  std::vector<Interval> found;
  if (work == nullptr) return found;
  std::vector<bool> compiles(trace.strings.size());
  for (std::size_t row = 0; row < compiles.size(); ++row) {
    compiles[row] = is_compilation(trace.strings.view(StringId(row)));
  }
  for (const SliceId slice : work->slices) {
    if (!compiles[trace.slices.name[slice.row()].row()]) continue;
    const Interval own{trace.slices.start[slice.row()], trace.slices.end(slice)};
    if (found.empty() || own.begin >= found.back().end) found.push_back(own);
  }
  return found;
}

class MainThread {
 public:
  MainThread(const Context& context, const HostThreads& threads, const OneOffWork& one_off)
      : context_(context),
        one_off_(one_off),
        main_(threads.main()),
        own_(context.trace, context.nesting(), threads, threads.main()),
        backward_track_(backward_thread(context, threads.main())),
        backward_(context.trace, context.nesting(), threads,
                  backward_track_.valid() ? backward_track_ : threads.main()),
        waits_(waits_of(context.trace, threads.frames(threads.main()))),
        frames_(threads.frames(threads.main()) != nullptr),
        peers_(communication_beside(context, threads.main())),
        compilations_(compilations(context.trace, threads.work(threads.main()))) {}

  std::vector<HostPiece> pieces() {
    LateOp unused;
    own_.visit(context_.trace.span, unused, [&](Interval stretch, Bucket state, SliceId slice) {
      // A collective is an annotation on some threads, an operator on others.
      const bool communicates = slice.valid() && context_.phases()[slice] == Phase::communication;
      if (compiling(stretch)) {
        // The operators of a compilation run on tensors without data: all of it is Python's work.
        add(stretch, HostBucket::python, slice);
      } else if (state == Bucket::python && !communicates) {
        in_no_operator(stretch, slice);
      } else {
        add(stretch, operator_bucket(state, slice), slice);
      }
    });
    return std::move(pieces_);
  }

 private:
  [[nodiscard]] bool compiling(Interval stretch) const {
    const auto ended = [&](const Interval& work) { return work.end <= stretch.begin; };
    const auto work = std::ranges::partition_point(compilations_, ended);
    return work != compilations_.end() && work->begin <= stretch.begin;
  }

  [[nodiscard]] HostBucket operator_bucket(Bucket state, SliceId slice) const {
    if (state == Bucket::input) return HostBucket::input;
    if (state == Bucket::sync) return HostBucket::waiting;
    return slice.valid() ? bucket_of(context_.phases()[slice]) : HostBucket::other_operators;
  }

  void in_no_operator(Interval stretch, SliceId slice) {
    if (!backward_track_.valid()) {
      beside_peers(stretch, slice);
      return;
    }
    LateOp unused;
    backward_.visit(stretch, unused, [&](Interval part, Bucket state, SliceId other) {
      if (state == Bucket::python) {
        beside_peers(part, slice);
      } else {
        add(part, HostBucket::backward, other);
      }
    });
  }

  /// Cuts a stretch where other threads communicate: what the backward pass does then, in no
  /// operator, is wait for them, and so it is where no frame shows other work.
  void beside_peers(Interval stretch, SliceId slice) {
    const bool backward = slice.valid() && context_.phases()[slice] == Phase::backward;
    if (frames_ && !backward) {
      in_python(stretch, slice);
      return;
    }
    const auto ended = [&](const Interval& peer) { return peer.end <= stretch.begin; };
    auto peer = std::ranges::partition_point(peers_, ended);
    for (; peer != peers_.end() && peer->begin < stretch.end; ++peer) {
      const Time begin = std::max(stretch.begin, peer->begin);
      const Time end = std::min(stretch.end, peer->end);
      in_python({stretch.begin, begin}, slice);
      add({begin, end}, HostBucket::communication, slice);
      stretch.begin = end;
    }
    in_python(stretch, slice);
  }

  /// Cuts a stretch where frames show that the thread waits.
  void in_python(Interval stretch, SliceId slice) {
    while (next_ < waits_.size() && waits_[next_].end <= stretch.begin) ++next_;
    for (std::size_t i = next_; i < waits_.size() && waits_[i].begin < stretch.end; ++i) {
      const Time begin = std::max(stretch.begin, waits_[i].begin);
      const Time end = std::min(stretch.end, waits_[i].end);
      add({stretch.begin, begin}, HostBucket::python, slice);
      add({begin, end}, HostBucket::waiting, slice);
      stretch.begin = end;
    }
    add(stretch, HostBucket::python, slice);
  }

  void add(Interval interval, HostBucket bucket, SliceId op) {
    one_off_.cut(main_, interval, [&](Interval part, bool once) {
      add_part(part, once ? HostBucket::warm_up : bucket, op);
    });
  }

  void add_part(Interval interval, HostBucket bucket, SliceId op) {
    if (interval.begin == interval.end) return;
    if (!pieces_.empty() && pieces_.back().bucket == bucket && pieces_.back().op == op) {
      pieces_.back().interval.end = interval.end;
    } else {
      pieces_.push_back({.interval = interval, .bucket = bucket, .op = op});
    }
  }

  const Context& context_;
  const OneOffWork& one_off_;
  TrackId main_;
  HostWalk own_;
  TrackId backward_track_;
  HostWalk backward_;  // of backward_track_, where there is one
  std::vector<Interval> waits_;
  bool frames_;
  std::vector<Interval> peers_;
  std::vector<Interval> compilations_;
  std::size_t next_ = 0;  // waits before it have ended
  std::vector<HostPiece> pieces_;
};

/// Each request by the thread that answers it; between requests the program waits for them.
class Requests {
 public:
  Requests(const Context& context, const HostThreads& threads)
      : context_(context), threads_(threads), main_(threads.main()) {}

  std::vector<HostPiece> pieces() {
    const Interval span = context_.trace.span;
    Time at = span.begin;
    for (const Step& step : context_.steps().steps) {
      if (step.process != context_.trace.tracks[main_.row()].process) continue;
      const Interval window{std::max(step.window.begin, at), std::min(step.window.end, span.end)};
      if (window.begin >= window.end) continue;
      add({at, window.begin}, HostBucket::waiting, SliceId());
      request(threads_.of(step), window);
      at = window.end;
    }
    add({at, span.end}, HostBucket::waiting, SliceId());
    return std::move(pieces_);
  }

 private:
  void request(TrackId thread, Interval window) {
    HostWalk walk(context_.trace, context_.nesting(), threads_, thread);
    LateOp unused;
    walk.visit(window, unused, [&](Interval stretch, Bucket state, SliceId slice) {
      add(stretch, bucket(state, slice), slice);
    });
  }

  [[nodiscard]] HostBucket bucket(Bucket state, SliceId slice) const {
    if (state == Bucket::input) return HostBucket::input;
    if (state == Bucket::sync) return HostBucket::waiting;
    if (state == Bucket::python || !slice.valid()) return HostBucket::python;
    return bucket_of(context_.phases()[slice]);
  }

  void add(Interval interval, HostBucket bucket, SliceId op) {
    if (interval.begin < interval.end)
      pieces_.push_back({.interval = interval, .bucket = bucket, .op = op});
  }

  const Context& context_;
  const HostThreads& threads_;
  TrackId main_;
  std::vector<HostPiece> pieces_;
};

}  // namespace

bool is_waiting_frame(std::string_view name) {
  if (name.starts_with('<')) {
    return std::ranges::any_of(kBlockingCalls,
                               [name](std::string_view call) { return name.starts_with(call); });
  }
  const auto occurs = [name](std::string_view file) {
    return name.find(file) != std::string_view::npos;
  };
  const auto ends = [name](std::string_view function) { return name.ends_with(function); };
  return std::ranges::any_of(kBlockingFiles, occurs) &&
         std::ranges::any_of(kBlockingFunctions, ends);
}

std::vector<HostPiece> account_main_thread(const Context& context, const HostThreads& threads,
                                           const OneOffWork& one_off) {
  if (!threads.main().valid()) return {};
  if (context.steps().requests) return Requests(context, threads).pieces();
  return MainThread(context, threads, one_off).pieces();
}

}  // namespace fathom
