// Decides which events are kept: by time, by steps, inside annotations of one name.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/json_writer.h"
#include "capture/inside/attempt.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/recorder.h"
#include "capture/inside/shared_page.h"
#include "capture/inside/spans.h"

namespace fathom::detail {

std::uint64_t begin_watched(std::uint64_t what) noexcept {
  auto& recorder = inside::Recorder::get();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as it was packed
  const auto* const name = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(what));
  const bool opens = recorder.range_begins(name);
  const std::uint64_t begun = note(EventKind::begin, what);
  if (!opens) return begun;
  if (begun == 0) recorder.range_ends();
  return begun == 0 ? 0 : begun | kOpener;
}

void end_watched() noexcept { inside::Recorder::get().range_ends(); }

}  // namespace fathom::detail

namespace fathom::inside {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

bool keeps(Action action) { return action == Action::record || action == Action::record_and_save; }

std::string json_list_of(const std::string& sentence) { return "[" + json_string(sentence) + "]"; }

}  // namespace

/// Once in the life of the program. The lists are locked.
void Recorder::decide_limits() noexcept {
  if (!annotates_) return;
  // Who begins and ends by itself has said which steps.
  if (!settings_.from_start) settings_.steps.reset();
  if (!settings_.range.empty()) windows_.keep(Reason::range, false, 0);
  planned_ = settings_.steps && settings_.range.empty() && has_steps_;
  if (!planned_) return;
  action_ = action_of(*settings_.steps, 0);
  windows_.keep(Reason::steps, keeps(action_), 0);
}

/// Once in each process, as its file is made. The lists are locked.
void Recorder::begin_limits() noexcept {
  if (!annotates_) return;
  if (forked_ && !settings_.range.empty()) windows_.keep(Reason::range, false, 0);
  const std::int64_t start = process_start_ns() + settings_.delay_ns;
  record_from_ = settings_.delay_ns > 0 ? start : 0;
  record_to_ = settings_.duration_ns ? start + *settings_.duration_ns : kNever;
  look_at_time(wire::monotonic_ns(), 0);
  if (planned_ || !settings_.range.empty()) windows_.show_on(make_shared_page());
}

/// The lists are locked.
void Recorder::look_at_time(std::int64_t now, std::uint64_t ticks) noexcept {
  in_time_ = record_from_ <= now && now < record_to_;
  windows_.keep(Reason::time, in_time_, ticks);
  deadline_ = now < record_from_ ? record_from_ : now < record_to_ ? record_to_ : kNever;
  choose_mode();
}

void Recorder::pass_deadline(std::int64_t now) noexcept {
  if (now < deadline_) return;
  const Inside guard;
  const std::lock_guard lock(mutex_);
  look_at_time(now, detail::ticks());
}

void Recorder::step_ended(std::uint64_t now) noexcept {
  Action next = Action::none;
  Span round;
  bool ends = false;
  {
    const std::lock_guard lock(mutex_);
    ++steps_seen_;
    if (!planned_) return;
    next = action_of(*settings_.steps, steps_seen_);
    // A round may follow on the one before.
    ends = keeps(action_) && (!keeps(next) || action_ == Action::record_and_save);
    round = {round_began_ == 0 ? began_.load() : round_began_, now, "fathom run --steps", "profile",
             rounds_};
  }
  if (ends) note(round);
  const Inside guard;
  const std::lock_guard lock(mutex_);
  rounds_ += ends ? 1 : 0;
  if (keeps(next) && (ends || !keeps(action_))) round_began_ = now;
  action_ = next;
  windows_.keep(Reason::steps, keeps(next), now);
  choose_mode();
}

void Recorder::time_steps() noexcept {
  if (stepping_.load(std::memory_order_relaxed) || !detail::recording()) return;
  const Inside guard;
  const std::lock_guard lock(mutex_);
  if (stepping_) return;
  thread_time_.begin();
  stepping_ = true;
}

void Recorder::drop_plan() noexcept {
  const Inside guard;
  const auto turn = take_turn();
  const std::lock_guard lock(mutex_);
  decide();
  planned_ = false;
  windows_.keep(Reason::steps, true, 0);
  choose_mode();
}

bool Recorder::range_begins(const char* name) noexcept {
  const Inside guard;
  if (guard.again()) return false;
  std::unique_lock lock(mutex_);
  if (!decided_ || !begun_) {
    lock.unlock();
    const auto turn = take_turn();
    lock.lock();
    begin();
  }
  if (!begun_ || settings_.range.empty() || settings_.range != name) return false;
  if (range_depth_++ > 0) return true;
  const std::int64_t number = occurrences_++;
  if (!settings_.steps || keeps(action_of(*settings_.steps, number)))
    windows_.keep(Reason::range, true, detail::ticks());
  return true;
}

void Recorder::range_ends() noexcept {
  const Inside guard;
  const std::lock_guard lock(mutex_);
  // Of one that was open as this process was forked, the parent knows.
  if (range_depth_ == 0 || --range_depth_ > 0) return;
  windows_.keep(Reason::range, false, detail::ticks());
}

/// At the end, why nothing was kept of a program that had something to record. Needs the turn.
void Recorder::say_what_was_missed() noexcept {
  if (missed_told_ || windows_.ever_open()) return;
  missed_told_ = true;
  attempt([this] {
    const std::string sentence = what_was_missed();
    if (!sentence.empty()) writer_->fact(pid_, "WARNING", json_list_of(sentence));
  });
}

std::string Recorder::what_was_missed() const {
  const std::string process = "process " + std::to_string(pid_);
  if (!in_time_ || deadline_ != kNever)
    return "nothing was recorded of the annotations of " + process +
           ": --delay and --duration leave out all the time in which there were some";
  if (!settings_.range.empty())
    return "no annotation of " + process + " is called '" + settings_.range +
           "' (--range), or not often enough (--steps): none was recorded";
  if (planned_)
    return process + " ended after " + std::to_string(steps_seen_) +
           " calls of fathom::step(), before the steps that --steps records";
  return {};
}

}  // namespace fathom::inside
