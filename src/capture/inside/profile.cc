// Switches recording on and off by the schedule of steps.
#include <algorithm>
#include <atomic>

#include <fathom/profile.h>
#include <fathom/record.h>
#include <fathom/session.h>

#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"

namespace fathom {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one profile at a time
constinit std::atomic<bool> profile_lives{false};

bool keeps(Action action) { return action == Action::record || action == Action::record_and_save; }

}  // namespace

Action action_of(const schedule& plan, std::int64_t step) noexcept {
  const std::int64_t wait = std::max(plan.wait, 0);
  const std::int64_t warmup = std::max(plan.warmup, 0);
  const std::int64_t length = wait + warmup + std::max(plan.active, 1);
  step -= std::max(plan.skip_first, 0);
  if (step < 0 || (plan.repeat > 0 && step / length >= plan.repeat)) return Action::none;
  const std::int64_t in_round = step % length;
  if (in_round < wait) return Action::none;
  if (in_round < wait + warmup) return Action::warmup;
  return in_round + 1 < length ? Action::record : Action::record_and_save;
}

profile::profile(const schedule& plan, std::string_view folder) noexcept
    : plan_(plan), scheduled_(true) {
  begin(folder);
}

profile::profile(std::string_view folder) noexcept : scheduled_(false) { begin(folder); }

void profile::begin(std::string_view folder) noexcept {
  in_charge_ = !profile_lives.exchange(true);
  if (!in_charge_) return;
  inside::Recorder::get().drop_plan();
  was_recording_ = fathom::recording();
  fathom::start(folder);
  const std::uint64_t now = detail::ticks();
  inside::Recorder::get().windows().keep(inside::Reason::profile, false, now);
  enter(scheduled_ ? action_of(plan_, 0) : Action::record, now);
}

profile::~profile() {
  if (!in_charge_) return;
  const std::uint64_t now = detail::ticks();
  enter(Action::none, now);
  if (was_recording_) fathom::start();
  inside::Recorder::get().windows().keep(inside::Reason::profile, true, now);
  profile_lives = false;
}

void profile::step() noexcept {
  if (!in_charge_) return;
  const std::uint64_t now = detail::ticks();
  inside::mark_step(now);
  ++step_;
  enter(scheduled_ ? action_of(plan_, step_) : Action::record, now);
}

void profile::enter(Action next, std::uint64_t now) noexcept {
  auto& recorder = inside::Recorder::get();
  // A round may follow on the one before.
  const bool ends = keeps(action_) && (!keeps(next) || action_ == Action::record_and_save);
  const bool begins = keeps(next) && (ends || !keeps(action_));
  if (ends) {
    inside::note({began_, now, "fathom::profile", "profile", rounds_++});
    recorder.windows().keep(inside::Reason::profile, false, now);
  }
  if (begins) {
    began_ = now;
    recorder.windows().keep(inside::Reason::profile, true, now);
  }
  action_ = next;
  if (next == Action::none) {
    fathom::stop();
  } else {
    fathom::start();
  }
  if (ends) fathom::flush();
}

}  // namespace fathom
