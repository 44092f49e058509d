// A trace and everything that a rule is given about it, for the tests of rules.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule.h"
#include "store/trace_builder.h"

namespace fathom {

/// An operator that launches a kernel at once: it starts 15 ns after the operator.
inline void add_launch(TraceBuilder& builder, std::string_view op, std::int64_t at,
                       std::string_view kernel, std::int64_t duration, std::int64_t correlation) {
  builder.op(op, at, 20);
  builder.runtime("cudaLaunchKernel", at + 5, 5, correlation);
  builder.kernel(kernel, at + 15, duration, correlation);
}

/// Judges a synthetic trace by one rule, with these peaks; without, the roofline is empty. The
/// diagnosed device is the first.
class JudgedTrace {
 public:
  explicit JudgedTrace(TraceBuilder& builder, const DeviceSpec* peaks = nullptr)
      : JudgedTrace(builder.build(), peaks) {}
  explicit JudgedTrace(Trace trace, const DeviceSpec* peaks = nullptr)
      : trace_(std::move(trace)), roofline_(roofline_by(peaks)) {
    for (const Step* const step : analyses_.steps().counted()) rules_.steps.push_back(step);
    const std::vector<DeviceTimeline>& devices = analyses_.timelines().devices;
    if (!devices.empty()) rules_.device = devices.front().device;
  }

  Outcome by(const Rule& rule) const { return rule.check(rules_); }
  /// What the rule finds; empty when it is silent or abstains.
  std::vector<Finding> findings(const Rule& rule) const {
    Outcome outcome = by(rule);
    auto* const found = std::get_if<std::vector<Finding>>(&outcome);
    return found == nullptr ? std::vector<Finding>() : std::move(*found);
  }
  /// Why the rule abstains; "" when it does not.
  std::string abstains(const Rule& rule) const {
    const Outcome outcome = by(rule);
    const auto* const abstention = std::get_if<Abstention>(&outcome);
    return abstention == nullptr ? std::string() : abstention->reason;
  }
  const RuleContext& rules() const { return rules_; }
  const Trace& trace() const { return trace_; }

 private:
  Roofline roofline_by(const DeviceSpec* peaks) const {
    if (peaks == nullptr) return {};
    return compute_roofline({trace_, analyses_, {}, {.peaks = peaks}});
  }

  Trace trace_;
  Analyses analyses_{trace_};
  Context context_{.trace = trace_, .analyses = analyses_, .selection = {}, .options = {}};
  Accounting accounting_ = compute_accounting(context_);
  const Roofline roofline_;
  std::vector<SyncCall> syncs_ = compute_syncs(context_);
  CallSites sites_{context_};
  Column<Duration> self_times_ = self_times(trace_, analyses_.nesting());
  RuleContext rules_{.context = context_,
                     .accounting = accounting_,
                     .roofline = roofline_,
                     .syncs = syncs_,
                     .sites = sites_,
                     .self_times = self_times_,
                     .steps = {},
                     .device = -1};
};

}  // namespace fathom
