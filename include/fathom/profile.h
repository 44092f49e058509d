// fathom::profile: records some steps of many, by a schedule as torch.profiler has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

/// Which steps are recorded. After `skip_first` steps come rounds of `wait` steps without
/// recording, `warmup` steps that are recorded but not kept, and `active` ones that are; `repeat`
/// rounds of them, 0: until the end.
// Named like torch's, and used like a function.
struct schedule {  // NOLINT(readability-identifier-naming)
  int wait = 0;
  int warmup = 0;
  int active = 1;
  int repeat = 0;
  int skip_first = 0;
};

/// What a schedule says about a step.
enum class Action { none, warmup, record, record_and_save };

/// Of step `step`, from 0. Negative numbers in the schedule count as 0, `active` below 1 as 1.
Action action_of(const schedule& plan, std::int64_t step) noexcept;

/// Records the steps that the schedule picks, while it lives:
///
///     fathom::profile profile({.wait = 1, .warmup = 1, .active = 3});
///     for (auto& batch : loader) { train(batch); profile.step(); }
///
/// Outside of those steps annotations cost what they cost while nothing is recorded. One at a time:
/// a second one does nothing. After it, recording is as it was before. For the
/// thread that made it.
class profile {  // NOLINT(readability-identifier-naming)
 public:
  /// `folder` as of start().
  explicit profile(const schedule& plan, std::string_view folder = {}) noexcept;
  /// Records all of its life; steps are marked.
  explicit profile(std::string_view folder = {}) noexcept;
  ~profile();
  profile(const profile&) = delete;
  profile& operator=(const profile&) = delete;

  /// A step ends and the next one begins.
  void step() noexcept;
  /// What is done in the step at hand.
  [[nodiscard]] Action action() const noexcept { return action_; }

 private:
  void begin(std::string_view folder) noexcept;
  void enter(Action next, std::uint64_t now) noexcept;

  schedule plan_;
  bool scheduled_;
  bool in_charge_ = false;  // no other profile lives
  bool was_recording_ = false;
  Action action_ = Action::none;
  std::int64_t step_ = 0;
  std::int64_t rounds_ = 0;
  std::uint64_t began_ = 0;  // the stretch at hand
};

}  // namespace fathom
