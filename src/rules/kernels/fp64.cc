// fp64: tensors of type double take time.
#include <algorithm>

#include "analysis/roofline/kernel_type.h"
#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace fp64_rule {
namespace {

constexpr std::string_view kDoc =
    "Double precision halves the rate of everything that memory bounds, and runs at a 2nd to a "
    "64th of the single-precision rate in arithmetic: it is rarely intended in training and "
    "inference, and usually comes from a NumPy array or a Python constant. Fires when operators "
    "with tensors of type double take at least 2 % of the step (of operators that are none of ATen "
    "the kernels that are named after it). An operator that reaches 60 % of "
    "its roof is expected to reach as much of that of single precision; PyTorch's convolutions on "
    "the processor, which oneDNN has none for in double precision, a fifth of the time (0.16 "
    "forward and 0.25 backward in the median of seven shapes); all else half. Source: NVIDIA's "
    "architecture white papers (rates per type); PyTorch's default dtype is float32.";

constexpr double kLeastPercent = 2.0;
/// What single precision takes of the time: half of the bytes are to be moved.
constexpr double kLeft = 0.5;
/// The same of convolutions on the processor: see kDoc.
constexpr double kLeftOfSlowConvolution = 0.2;
/// At best, of that.
constexpr double kLeftAtBest = 0.8;

/// Is any of these arguments a tensor of doubles with elements? A Python number is recorded as a
/// double without dimensions.
bool has_doubles(const std::vector<std::string_view>& types,
                 const std::vector<std::string_view>& shapes) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (json_unquoted(types[i]) != "double") continue;
    if (i >= shapes.size() || !json_elements(shapes[i]).empty()) return true;
  }
  return false;
}

/// Per row of Trace::signatures: is any argument a tensor of doubles?
std::vector<bool> double_signatures(const Trace& trace) {
  std::vector<bool> doubles;
  doubles.reserve(trace.signatures.size());
  for (const Signature& signature : trace.signatures) {
    doubles.push_back(signature.types.valid() && signature.shapes.valid() &&
                      has_doubles(json_elements(trace.text(signature.types)),
                                  json_elements(trace.text(signature.shapes))));
  }
  return doubles;
}

/// The operators with doubles that take time of their own.
Blamed look(const RuleContext& rules, const std::vector<bool>& doubles) {
  const Trace& trace = rules.trace();
  const auto is_double = [&](SliceId op) {
    const Signature* const signature = signature_of(trace, op);
    return signature != nullptr &&
           doubles[static_cast<std::size_t>(signature - trace.signatures.data())];
  };
  Blamed blamed;
  KernelTypes by_name(trace);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    // What surrounds many kernels, such as a compiled function, has arguments of all types.
    const bool single = op.valid() && trace.name(op).starts_with("aten::");
    if (!is_double(op)) return;
    if (single || by_name.of(activity) == NumberType::fp64) blamed.add(rules, activity, op);
  });
  if (rules.device >= 0) return blamed;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId op(row);
    if (trace.kind(op) != SliceKind::cpu_op || !is_double(op) || !counts(rules, op)) continue;
    blamed.activities.push_back(op);
    blamed.time += rules.self_times[row];
  }
  return blamed;
}

bool is_slow_convolution(std::string_view name) {
  return name.find("slow_conv") != std::string_view::npos;
}

/// What single precision may take of an operator's or an activity's time.
class SinglePrecision {
 public:
  explicit SinglePrecision(const RuleContext& rules)
      : rules_(rules), slow_(rules.trace(), is_slow_convolution) {}

  [[nodiscard]] double left_of(SliceId work) const {
    if (rules_.device < 0) {
      const bool slow = slow_.contains(rules_.trace().slices.name[work.row()]);
      return slow ? kLeftOfSlowConvolution : kLeft;
    }
    const RooflineRow* const row = rules_.roofline.row_of(work);
    const bool near_roof =
        row != nullptr && (row->bound == Bound::compute || row->bound == Bound::bandwidth);
    return near_roof && row->cost->type == NumberType::fp64 ? left_at_roof(*row) : kLeft;
  }

 private:
  [[nodiscard]] double left_at_roof(const RooflineRow& row) const {
    const double peak = rules_.roofline.device->peak(NumberType::fp32, row.cost->matrix);
    if (peak <= 0) return kLeft;
    const auto least = [&](double flops_per_s, double bytes) {
      return std::max(row.cost->flops / flops_per_s, bytes / row.peak_bytes);
    };
    const double left = least(peak, row.cost->bytes / 2) / least(row.peak_flops, row.cost->bytes);
    return std::min(left, 1.0);
  }

  const RuleContext& rules_;
  NameSet slow_;
};

Outcome check(const RuleContext& rules) {
  if (!has_shapes(rules.trace())) {
    return not_recorded(rules, "types were not recorded", "record_shapes=True");
  }
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const Blamed blamed = look(rules, double_signatures(rules.trace()));
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "Double precision takes " + per_step(rules, blamed.time);
  finding.family = Family::compute;
  finding.weight = rules.percent(blamed.time) >= 20 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      evidence_of(rules, blamed,
                  count_text(static_cast<std::int64_t>(blamed.activities.size())) +
                      " operators or kernels work on tensors of type double"));
  finding.counter_evidence = "Some numerics need double precision; then this is the price of it.";
  finding.fix = {.text =
                     "Where seven digits suffice, convert where the data enters: NumPy arrays are "
                     "double by default. Caveat: results change in the digits that are left out.",
                 .before = "x = torch.from_numpy(array)",
                 .after = "x = torch.from_numpy(array).float()"};
  finding.verify = "fathom ops TRACE --group-by shape";
  const SinglePrecision single(rules);
  for (const SliceId slice : blamed.activities) {
    const double left = single.left_of(slice);
    finding.claims.push_back(claim(rules, slice, 1.0 - kLeftAtBest * left));
    finding.edits.scale.emplace_back(slice, static_cast<float>(left));
  }
  finding.assumption =
      rules.device >= 0
          ? "single precision takes half of the time; near its roof, the ratio of both peaks"
          : "single precision takes half of the time; convolutions a fifth";
  finding.pessimism = 0.8;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace fp64_rule

Rule fp64() {
  return {.id = "fp64",
          .title = "Double precision on the device",
          .doc = fp64_rule::kDoc,
          .check = fp64_rule::check};
}

}  // namespace fathom
