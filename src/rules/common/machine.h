// What rules about the machine share: telemetry over the counted steps, and the numbers' texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/machine/telemetry.h"
#include "rules/rule.h"

namespace fathom {

/// Telemetry of the counted steps.
class MachineView {
 public:
  explicit MachineView(const RuleContext& rules);

  /// True where nothing was sampled, at any time: the reason is abstention().
  [[nodiscard]] bool empty() const { return telemetry_.empty(); }
  /// Why nothing can be said without telemetry, or without that of these steps.
  [[nodiscard]] static Abstention abstention();

  /// A level, or by how much a total rose, over the counted steps; unset: not sampled. Steps too
  /// short for a sample of their own share their neighbours'.
  [[nodiscard]] std::optional<LevelSummary> level(std::string_view name,
                                                  std::int32_t device = -1) const;
  [[nodiscard]] std::optional<double> rise(std::string_view name, std::int32_t device = -1) const;
  /// A total in seconds, as percent of the time.
  [[nodiscard]] std::optional<double> percent(std::string_view name) const;
  /// A rise per second.
  [[nodiscard]] std::optional<double> per_second(std::string_view name) const;
  /// Largest level during the counted steps or anywhere else in the recording.
  [[nodiscard]] std::optional<double> most_ever(std::string_view name,
                                                std::int32_t device = -1) const;
  /// The telemetry's number of the diagnosed device; unset: not known.
  [[nodiscard]] std::optional<std::int32_t> gpu() const;
  [[nodiscard]] const Telemetry& telemetry() const { return telemetry_; }
  [[nodiscard]] const std::vector<Interval>& windows() const { return windows_; }
  /// Seconds of the counted steps that have telemetry of that name.
  [[nodiscard]] double seconds(std::string_view name, std::int32_t device = -1) const;

 private:
  const RuleContext& rules_;
  const Telemetry& telemetry_;
  std::vector<Interval> windows_;
};

/// Evidence without slices: a sentence about the whole stretch.
Evidence sentence(std::string text);
/// Without zeros behind the point: "2", "1.5".
std::string plain_text(double value);
/// "320 W", "1410 MHz".
std::string unit_text(double value, std::string_view unit);

}  // namespace fathom
