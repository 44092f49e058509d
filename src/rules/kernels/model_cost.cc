// model-cost: one operator takes most of the step and is near its roof.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace model_cost_rule {
namespace {

constexpr std::string_view kDoc =
    "Where one operator takes most of the step and is near what the device can do, no launch, "
    "layout or kernel is to blame: the time is the model's own cost, and only less work or a "
    "cheaper type makes it faster. Fires when the calls of one operator take more than 50 % of the "
    "step and together reach at least 60 % of their roof. Nothing is predicted. Abstains where the "
    "roof of less than 80 % of that time is known. Source: Nsight Compute's 60 % for work near a "
    "roof; more than half of the step is our choice.";

constexpr double kMost = 50.0;
constexpr double kNearPercent = kLatencyPercent;
constexpr double kKnown = 0.8;

/// All shapes of one operator.
struct Operator {
  Blamed blamed;
  double known = 0;    // ns of device time with a roof
  double least = 0;    // ns: the roofs' times of these
  double compute = 0;  // ns of it below the compute roof
  [[nodiscard]] double percent() const { return known <= 0 ? 0 : 100 * least / known; }
};

/// By name: an activity has its share of its row's least time.
std::map<StringId, Operator> operators_of(const RuleContext& rules) {
  std::map<StringId, Operator> operators;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const RooflineRow* const row = rules.roofline.row_of(activity);
    if (row == nullptr || row->over_link) return;
    Operator& mine = operators[row->name];
    mine.blamed.add(rules, activity, op);
    if (row->bound == Bound::unknown) return;
    const auto time = static_cast<double>(to_ns(rules.trace().slices.duration[activity.row()]));
    mine.known += time;
    mine.least += time * std::min(1.0, row->roof_percent / 100);
    if (row->intensity() * row->peak_bytes >= row->peak_flops) mine.compute += time;
  });
  return operators;
}

double all_time(const RuleContext& rules, const Operator& mine) {
  double all = 0;
  for (const SliceId activity : mine.blamed.activities)
    all += static_cast<double>(to_ns(rules.trace().slices.duration[activity.row()]));
  return all;
}

Finding describe(const RuleContext& rules, StringId name, const Operator& mine) {
  const bool computes = mine.compute * 2 >= mine.known;
  Finding finding;
  finding.key = std::string(rules.trace().text(name));
  finding.title = finding.key + " takes " + per_step(rules, mine.blamed.time) + " at " +
                  percent_text(mine.percent()) + " of its roof: the model's own cost";
  finding.about_percent = rules.percent(mine.blamed.time);
  finding.family = computes ? Family::compute : Family::memory_bandwidth;
  finding.weight = Weight::note;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::redesign;
  finding.evidence.push_back(
      evidence_of(rules, mine.blamed,
                  count_text(static_cast<std::int64_t>(mine.blamed.activities.size())) +
                      " kernels; the device cannot do this work in less than " +
                      percent_text(mine.percent()) + " of their time"));
  finding.counter_evidence =
      "The roof is that of the types as they are: another type has another roof, and work that is "
      "not needed has none.";
  finding.fix = {
      .text = std::string(computes ? "Compute less" : "Move less") +
              ": a smaller model, input or context; lower precision where accuracy allows "
              "(bf16/fp16, then int8 or fp8 quantisation); pruning to the 2:4 sparsity that the "
              "device supports; else a faster device or more of them. All of these can change "
              "results: check the model's quality.",
      .before = "",
      .after = ""};
  finding.verify = "fathom roofline TRACE --filter 'name=" + finding.key + "'";
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  for (const auto& [name, mine] : operators_of(rules)) {
    if (!name.valid() || rules.percent(mine.blamed.time) <= kMost) continue;
    if (rules.roofline.device == nullptr)
      return Abstention{"the peaks of the device are not known: " + rules.roofline.note};
    if (mine.known < kKnown * all_time(rules, mine)) {
      if (!has_shapes(rules.trace()))
        return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
      return Abstention{"the roof of " + std::string(rules.trace().text(name)) + " is not known"};
    }
    if (mine.percent() < kNearPercent) return std::vector<Finding>{};
    std::vector<Finding> findings;
    findings.push_back(describe(rules, name, mine));
    return findings;
  }
  return std::vector<Finding>{};
}

}  // namespace
}  // namespace model_cost_rule

Rule model_cost() {
  return {.id = "model-cost",
          .title = "One operator that is most of the step and near its roof",
          .doc = model_cost_rule::kDoc,
          .check = model_cost_rule::check};
}

}  // namespace fathom
