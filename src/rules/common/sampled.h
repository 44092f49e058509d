// What samples of its threads show of a program inside which nothing else was recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/samples/hot_spots.h"
#include "analysis/samples/program_time.h"
#include "analysis/samples/stack_roles.h"
#include "rules/common/storage_time.h"
#include "rules/rule.h"

namespace fathom {

/// For rules that judge by samples. O(samples).
class SampledProgram {
 public:
  explicit SampledProgram(const RuleContext& rules);

  /// Whether to judge: operators and devices show more than samples do.
  [[nodiscard]] bool judged() const { return time_.has_value(); }
  /// What a rule returns that does not judge: silent where operators were recorded, else it
  /// abstains.
  [[nodiscard]] Outcome unjudged() const;

  [[nodiscard]] const ProgramTime& time() const { return *time_; }
  [[nodiscard]] const StackRoles& roles() const { return roles_; }
  /// Whether it computes rather than waits, by all its time: in the run queue, too, it is there to
  /// compute or has just been woken.
  [[nodiscard]] bool computes() const;

  /// "work (app.py:12)"; of a thread without Python "native code of sort".
  [[nodiscard]] std::string name_of(const UserSpot& spot) const;
  [[nodiscard]] std::string name_of(std::uint32_t frame) const;
  /// Whether no Python runs there, so that changes of Python code are no help.
  [[nodiscard]] bool is_native(const UserSpot& spot) const;
  /// "/home/me/app.py:12", or "".
  [[nodiscard]] std::string location_of(std::uint32_t frame) const;

  /// Functions of the program itself by what `weight` counts of a sample, the largest first. By
  /// line, each with its line.
  [[nodiscard]] std::vector<UserSpot> spots(
      const std::function<Duration(const StackSample&)>& weight, SpotBy by = SpotBy::line) const;
  /// By the time blocked in waits of this class; `counted`: as the program's activity counts them,
  /// where threads that wait at a time do not add up.
  [[nodiscard]] std::vector<UserSpot> waits(WaitClass wait, bool counted = false) const;
  /// A sentence for each of the first spots, "work (app.py:12): 61.0 %" of `whole`,
  /// and one for the error of the first one's share.
  void add_evidence(const std::vector<UserSpot>& spots, Duration whole, std::string_view of_what,
                    Finding& finding) const;
  /// What of the time that titles are of is for a disk or in SQLite.
  [[nodiscard]] StorageTime storage() const;
  /// "; for 36.4 % of it, it waits for a processor", where that is much of the time that shares of
  /// a title are of.
  [[nodiscard]] std::string queue_clause() const;
  /// Whose time shares are of, how long it is and how it divides.
  void add_time(Finding& finding) const;
  /// What keeps shares from being exact: other programs that had the processors, and threads and
  /// processes that ended before they were looked at.
  void add_limits(Finding& finding) const;

 private:
  /// " (8.9 % where it computes, 80.4 % where it waits)", of much time in the run queue.
  [[nodiscard]] std::string queue_parts() const;
  /// The innermost function of the program itself that has a name; kNoFrame where there is none.
  [[nodiscard]] std::uint32_t named_frame(std::uint32_t frame) const;
  const Trace& trace_;
  StackRoles roles_;
  std::optional<ProgramTime> time_;
  std::optional<double> others_;  ///< Processors that other programs used.
  bool inside_ = false;
  bool partly_ = false;  ///< Processes with PyTorch were left out.
};

/// "61.0 %" of 0.61.
std::string share_text(double share);
/// "1.5 threads".
std::string threads_text(double threads);

}  // namespace fathom
