// conv-layout: NCHW tensors are converted for every convolution.
#include <string>

#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {
namespace conv_layout_rule {
namespace {

constexpr std::string_view kDoc =
    "cuDNN's Tensor Core convolutions work on channels-last tensors (NHWC). Given NCHW ones, it "
    "converts every input and output on the fly, in kernels named nchwToNhwc, nhwcToNchw or "
    "convertTensor; MIOpen does it in kernels named batched_transpose. Fires when these take at "
    "least 1 % of the step. Source: PyTorch's channels_last tutorial; NVIDIA's convolution guide.";

constexpr double kLeastPercent = 1.0;

bool is_conversion(std::string_view name) {
  for (const std::string_view part :
       {"nchwToNhwc", "nhwcToNchw", "nchw2nhwc", "nhwc2nchw", "convertTensor_kernel", "NchwToNhwc",
        "NhwcToNchw", "batched_transpose_"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const NameSet conversions(trace, is_conversion);
  if (!conversions.any()) return std::vector<Finding>{};
  Blamed blamed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (conversions.contains(trace.slices.name[activity.row()])) blamed.add(rules, activity, op);
  });
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "Convolutions convert between NCHW and NHWC: " + per_step(rules, blamed.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = rules.percent(blamed.time) >= 10 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, blamed,
      count_text(static_cast<std::int64_t>(blamed.activities.size())) + " conversion kernels"));
  finding.counter_evidence =
      "Where the whole model is not channels-last, conversions move elsewhere instead of "
      "vanishing.";
  const bool miopen = speaks_hip(trace) || NameSet(trace, [](std::string_view name) {
                                             return name.starts_with("aten::miopen");
                                           }).any();
  const std::string layout =
      NameSet(trace, [](std::string_view name) { return name == "aten::conv3d"; }).any()
          ? "channels_last_3d"
          : "channels_last";
  finding.fix = {.text = std::string("Keep model and input channels-last; pays most in 16 bits.") +
                         (miopen ? " Also set PYTORCH_MIOPEN_SUGGEST_NHWC=1." : ""),
                 .before = "",
                 .after = "model = model.to(memory_format=torch." + layout +
                          ")\nx = x.to(memory_format=torch." + layout + ")"};
  finding.verify = "fathom kernels TRACE --filter 'name~nchw|nhwc|convertTensor|batched_transpose'";
  claim_blamed(rules, blamed, 1.0, finding);
  finding.assumption = "no conversion is left, and convolutions are as fast as before";
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace conv_layout_rule

Rule conv_layout() {
  return {.id = "conv-layout",
          .title = "Convolutions that change the layout of their tensors",
          .doc = conv_layout_rule::kDoc,
          .check = conv_layout_rule::check};
}

}  // namespace fathom
