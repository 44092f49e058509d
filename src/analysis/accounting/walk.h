// A cursor over one host thread: what it did, stretch by stretch, in the order of time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/accounting/threads.h"

namespace fathom {

/// The operator that a thread spent the most time in, time in operators inside it aside.
struct LateOp {
  SliceId op{};
  Duration time{};
  void offer(SliceId candidate, Duration spent) {
    if (spent > time) *this = {candidate, spent};
  }
};

/// Walks one thread. Windows that are asked for in the order of time cost O(slices that begin or
/// end inside + log n) each; going back costs O(depth) more. Borrows the threads, trace and
/// nesting.
class HostWalk {
 public:
  HostWalk(const Trace& trace, const Nesting& nesting, const HostThreads& threads, TrackId track)
      : trace_(trace),
        parent_(nesting.parent),
        threads_(threads),
        thread_(threads.work(track)),
        fetches_(threads.fetches(track)) {}

  /// The last slice to begin before `at`, or invalid.
  SliceId last_before(Time at) {
    seek(at);
    return next_ == 0 ? SliceId() : thread_->slices[next_ - 1];
  }

  /// Calls visit(interval, state, innermost) for stretches that cover `window`: in order, disjoint,
  /// never empty. The innermost slice is invalid where the thread is in none; its state is python
  /// then. `late` is offered the operators.
  template <typename Visit>
  void visit(Interval window, LateOp& late, const Visit& visit) {
    at_ = window.begin;
    enter(window.begin);
    for (; thread_ != nullptr && next_ < thread_->slices.size(); ++next_) {
      const SliceId slice = thread_->slices[next_];
      const Time start = trace_.slices.start[slice.row()];
      if (start >= window.end) break;
      while (!open_.empty() && open_.back().slice != parent_[slice.row()]) {
        emit(std::min(open_.back().end, start), visit);
        leave(late);
        open_around();
      }
      emit(start, visit);
      push(slice);
    }
    while (!open_.empty() && open_.back().end < window.end) {
      emit(open_.back().end, visit);
      leave(late);
      open_around();
    }
    emit(window.end, visit);
    while (!open_.empty()) leave(late);
    const SliceId owner = threads_.owner_around(left_inside_);
    if (owner.valid()) late.offer(owner, left_);
  }

 private:
  struct Open {
    SliceId slice;
    Time end;
    Bucket state;    // the strongest of it and those around it
    Duration own{};  // spent in it, and in calls directly inside
  };

  [[nodiscard]] Time start_at(std::size_t i) const {
    return trace_.slices.start[thread_->slices[i].row()];
  }

  /// Moves next_ to the first slice that begins at or after `at`: gallops forward from where it
  /// was.
  void seek(Time at) {
    if (thread_ == nullptr) return;
    const std::size_t size = thread_->slices.size();
    std::size_t low = next_;
    if (low > 0 && start_at(low - 1) >= at) low = 0;
    std::size_t step = 1;
    while (low + step < size && start_at(low + step) < at) {
      low += step;
      step *= 2;
    }
    const auto first = thread_->slices.begin();
    const auto begin = first + static_cast<std::ptrdiff_t>(low);
    const auto end = first + static_cast<std::ptrdiff_t>(std::min(size, low + step + 1));
    const auto begins_before = [&](SliceId slice) { return trace_.slices.start[slice.row()] < at; };
    next_ = static_cast<std::size_t>(std::partition_point(begin, end, begins_before) - first);
  }

  /// Opens the innermost slice around `at`; those around it are opened when it ends.
  void enter(Time at) {
    open_.clear();
    left_ = {};
    left_inside_ = {};
    const SliceId last = last_before(at);
    // What had ended by the time of the last question has ended now.
    if (last != last_ || at < entered_at_) around_ = last;
    last_ = last;
    entered_at_ = at;
    while (around_.valid() && trace_.slices.end(around_) <= at) around_ = parent_[around_.row()];
    if (around_.valid()) push(around_);
  }

  void push(SliceId slice) {
    const Bucket state = open_.empty() ? threads_.state_around(slice)
                                       : std::min(threads_.state(slice), open_.back().state);
    open_.push_back({slice, trace_.slices.end(slice), state});
  }

  /// Opens what is around the outermost slice that was open and has ended.
  void open_around() {
    if (!open_.empty() || !left_inside_.valid()) return;
    push(left_inside_);
    open_.back().own = std::exchange(left_, {});
    left_inside_ = {};
  }

  /// Pops, and gives the time that was spent to whom it belongs.
  void leave(LateOp& late) {
    const Open top = open_.back();
    open_.pop_back();
    const SliceId around = parent_[top.slice.row()];
    if (open_.empty()) left_inside_ = around;
    if (threads_.owns_time(top.slice,
                           open_.empty() ? threads_.state_around(around) : open_.back().state)) {
      late.offer(top.slice, top.own);
    } else if (!open_.empty()) {
      open_.back().own += top.own;
    } else if (around.valid()) {
      left_ = top.own;
    }
  }

  template <typename Visit>
  void emit(Time until, const Visit& visit) {
    if (until <= at_) return;
    const Interval stretch{at_, until};
    at_ = until;
    const Bucket state = open_.empty() ? Bucket::python : open_.back().state;
    const SliceId innermost = open_.empty() ? SliceId() : open_.back().slice;
    if (!open_.empty()) open_.back().own += stretch.length();
    if (fetches_.empty() || state == Bucket::input) {
      visit(stretch, state, innermost);
    } else {
      emit_fetches(stretch, state, innermost, visit);
    }
  }

  /// Cuts a stretch where Python frames show that data was fetched.
  template <typename Visit>
  void emit_fetches(Interval stretch, Bucket state, SliceId innermost, const Visit& visit) const {
    const auto ended = [&](const Interval& fetch) { return fetch.end <= stretch.begin; };
    auto fetch = std::ranges::partition_point(fetches_, ended);
    for (; fetch != fetches_.end() && fetch->begin < stretch.end; ++fetch) {
      if (stretch.begin < fetch->begin) {
        visit(Interval{stretch.begin, fetch->begin}, state, innermost);
        stretch.begin = fetch->begin;
      }
      const Time end = std::min(fetch->end, stretch.end);
      visit(Interval{stretch.begin, end}, Bucket::input, innermost);
      stretch.begin = end;
    }
    if (stretch.begin < stretch.end) visit(stretch, state, innermost);
  }

  const Trace& trace_;
  const Column<SliceId>& parent_;
  const HostThreads& threads_;
  const Nesting::Thread* thread_;  // nullptr: a thread without host work
  const std::vector<Interval>& fetches_;
  std::size_t next_ = 0;    // slices before it begin before the time that was asked for
  Time at_{};               // visited up to here
  std::vector<Open> open_;  // outermost first; what is around these is opened when they end
  Duration left_{};         // spent in the last slice that was open, for the slice around it
  SliceId left_inside_;     // that slice
  SliceId last_;            // of the last question: the last slice to begin before it
  SliceId around_;          // the innermost slice around it
  Time entered_at_{};       // its time
};

}  // namespace fathom
