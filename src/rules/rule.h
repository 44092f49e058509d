// A rule: one diagnosis that explains itself. It fires, stays silent, or abstains.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/syncs.h"
#include "analysis/context.h"
#include "analysis/operators/call_sites.h"
#include "analysis/roofline/roofline.h"
#include "rules/finding.h"

namespace fathom {

/// What rules share: computed once by the engine. Borrowed.
struct RuleContext {
  const Context& context;
  const Accounting& accounting;
  const Roofline& roofline;
  const std::vector<SyncCall>& syncs;
  const CallSites& sites;
  const Column<Duration>&
      self_times;  ///< Per slice; see self_times() in analysis/structure/nesting.h.
  /// The steps whose time counts: selected, not edges, warm-up left out where asked, outliers left
  /// out for most rules.
  std::vector<const Step*> steps;
  /// The device that the diagnosis is about: the one that is busy least; -1 without any.
  std::int32_t device = -1;

  [[nodiscard]] const Trace& trace() const { return context.trace; }
  /// Σ of the counted steps' windows.
  [[nodiscard]] Duration window() const;
  /// The counted step in whose window the moment lies, or nullptr; `pid` distinguishes the steps of
  /// several processes. O(processes * log steps).
  [[nodiscard]] const Step* step_at(Time time, std::int64_t pid = kAbsent) const;
  [[nodiscard]] bool counts(Time time) const;
  /// `time` as percent of window().
  [[nodiscard]] double percent(Duration time) const;
  /// The part of a stretch of time that lies in counted steps.
  /// O(processes * log steps + steps inside).
  [[nodiscard]] Duration counted(const Interval& interval) const;
};

/// Whether moments that are asked for in ascending order lie in counted steps: O(1) each.
class CountedTime {
 public:
  explicit CountedTime(const RuleContext& rules);
  [[nodiscard]] bool holds(Time time) {
    while (next_ < windows_.size() && windows_[next_].end <= time) ++next_;
    return next_ < windows_.size() && windows_[next_].begin <= time;
  }
  /// What the counted steps cover: disjoint, ascending.
  [[nodiscard]] const std::vector<Interval>& windows() const { return windows_; }

 private:
  std::vector<Interval> windows_;
  std::size_t next_ = 0;
};

/// Why a rule cannot tell: what the capture lacks, and how to record it.
struct Abstention {
  std::string reason;
};

/// No findings: looked, and found nothing wrong.
using Outcome = std::variant<std::vector<Finding>, Abstention>;

/// What a finding of a rule means for the verdict beyond the time that it claims.
enum class VerdictHint : std::uint8_t {
  none,
  storage,   ///< Waiting for input is waiting for storage.
  hardware,  ///< The hardware holds the device back: the verdict where nothing else takes much.
};

struct Rule {
  std::string_view id;     ///< kebab-case, stable: "data-loading".
  std::string_view title;  ///< What it looks for, one line.
  std::string_view doc;  ///< Background, thresholds and their source; what `fathom explain` prints.
  Outcome (*check)(const RuleContext& context);
  /// Judges every counted step; others are not shown the outliers (rules/common/outliers.h), for
  /// what happens in one step must not decide about all.
  bool every_step = false;
  /// Judges the machine or the loader, and so a program, too, in which no operators were recorded.
  bool without_operators = false;
  VerdictHint hint = VerdictHint::none;
};

/// Every rule.
std::span<const Rule> all_rules();
/// The rule of that id, or nullptr.
const Rule* find_rule(std::string_view id);

}  // namespace fathom
