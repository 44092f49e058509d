// Tells a program that hangs from one that works.
#include "record/hang_rule.h"

#include <algorithm>
#include <limits>

#include "base/quantity_text.h"
#include "base/time.h"

namespace fathom::record {
namespace {

/// What threads that only look after something else may use: two ticks, or this part of the time.
constexpr std::int64_t kTicks = 20'000'000;
constexpr std::int64_t kPart = 500;
/// Looks come in regular steps; after a gap as long as this part of the quiet time we were stopped,
/// too.
constexpr std::int64_t kGapPart = 2;
constexpr std::size_t kMostSteps = 1000;
/// Who uses so much of one processor computes; who has to share it with others, gets less.
constexpr std::int64_t kComputesPart = 5;

std::int64_t sum_of(const std::map<pid_t, std::int64_t>& spent) {
  std::int64_t sum = 0;
  for (const auto& [pid, time] : spent) sum += time;
  return sum;
}

}  // namespace

void HangRule::step(pid_t pid, std::int64_t start, std::int64_t duration) {
  // What a file holds may be no time at all.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (duration <= 0 || duration > kMost / kTimesMedian) return;
  if (start < 0 || start > kMost - duration) return;
  if (steps_.size() < kMostSteps) {
    steps_.push_back(duration);
  } else {
    steps_[next_step_] = duration;
    next_step_ = (next_step_ + 1) % kMostSteps;
  }
  if (start + duration <= last_end_) return;
  last_end_ = start + duration;
  spent_then_ = sum_of(spent_);
  last_pid_ = pid;
  told_step_ = false;
}

void HangRule::phase(std::int64_t start, std::int64_t duration) {
  if (start < 0 || duration <= 0 || start > std::numeric_limits<std::int64_t>::max() - duration)
    return;
  longest_phase_ = std::max(longest_phase_, duration);
  if (start + duration <= last_end_) return;
  last_end_ = start + duration;
  spent_then_ = sum_of(spent_);
  told_step_ = false;
}

bool HangRule::has_acted(const TreeLook& tree) {
  const bool gap = last_look_ != 0 && tree.now - last_look_ > std::max(quiet_ / kGapPart, kTicks);
  bool acted =
      last_look_ == 0 || gap || tree.ready || tree.stopped || tree.spent.size() != spent_.size();
  for (const auto& [pid, spent] : tree.spent) {
    const auto before = spent_.find(pid);
    if (before == spent_.end()) {
      acted = true;
    } else {
      spent_since_ += std::max<std::int64_t>(0, spent - before->second);
    }
  }
  spent_ = tree.spent;
  last_look_ = tree.now;
  return acted || spent_since_ > std::max(kTicks, (tree.now - quiet_since_) / kPart);
}

bool HangRule::computes(const TreeLook& tree) const {
  return sum_of(tree.spent) - spent_then_ > (tree.now - last_end_) / kComputesPart;
}

std::string HangRule::odd_step(const TreeLook& tree) {
  if (told_step_ || !steps_known_ || steps_.size() < kLeastSteps) return {};
  // One that has ended makes no step any more; another may just begin.
  if (!tree.spent.contains(last_pid_)) return {};
  std::vector<std::int64_t> sorted = steps_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  const std::int64_t lasts = tree.now - last_end_;
  if (lasts < std::max(kLeastStep, kTimesMedian * *middle)) return {};
  // One that has to share its processors may get next to nothing.
  const bool busy = computes(tree) || tree.ready;
  if (busy && lasts < std::max(quiet_, longest_phase_)) return {};
  told_step_ = true;
  return "no step has ended for " + duration_text(duration_ns(lasts)) + ", where the median is " +
         duration_text(duration_ns(*middle)) +
         (busy ? "; the program computes, as it does in a long validation" : "");
}

std::string HangRule::look(const TreeLook& tree) {
  if (has_acted(tree)) {
    quiet_since_ = tree.now;
    spent_since_ = 0;
    told_quiet_ = false;
  }
  if (tree.stopped) return {};
  const std::int64_t lasts = tree.now - quiet_since_;
  if (!told_quiet_ && lasts >= quiet_) {
    told_quiet_ = true;
    // One stretch, one look: the step that does not end is the same matter.
    told_step_ = true;
    return "the program has computed nothing for " + duration_text(duration_ns(lasts));
  }
  return odd_step(tree);
}

}  // namespace fathom::record
