// shape-alignment: GEMMs whose dimensions are not multiples of the tile.
#include <algorithm>
#include <string>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace shape_alignment_rule {
namespace {

constexpr std::string_view kDoc =
    "Tensor Cores work on tiles. GEMMs of 16-bit floats need every dimension to be a multiple of "
    "8, those of 8-bit numbers a multiple of 16; else part of each tile is wasted or a slower "
    "kernel is chosen. Fires when mm, addmm, bmm and baddbmm of such types with another last "
    "dimension take at least 2 % of the step. Kernels of CUTLASS that use Tensor Cores count by "
    "their names, which end with the elements they load at a time: align1 and align2, and align4 "
    "of 16-bit floats, load less than the 16 bytes that aligned sizes allow (TF32 needs multiples "
    "of 4). Sources: NVIDIA's matrix multiplication guide; CUTLASS's naming; TorchTidy's "
    "MatMulDimInFP16.";

constexpr double kLeastPercent = 2.0;
/// Expected of padding: the guide's measurements lie between nothing and a half.
constexpr double kSaved = 0.3;
constexpr double kSavedAtBest = 0.5;

/// Multiple that the sizes of operands of that type should be; 0 where it does not matter.
std::int64_t multiple_of(NumberType type) {
  switch (type) {
    case NumberType::fp16:
    case NumberType::bf16:
      return 8;
    case NumberType::fp8:
    case NumberType::int8:
      return 16;
    default:
      return 0;
  }
}

/// Has one of the operands with at least two dimensions a size among its last two that does not
/// fit?
bool misfits(const Trace& trace, const Signature& signature) {
  if (!signature.shapes.valid() || !signature.types.valid()) return false;
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature.shapes));
  const std::vector<std::string_view> types = json_elements(trace.text(signature.types));
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    const std::int64_t multiple = multiple_of(number_type(json_unquoted(types[i])));
    const auto sizes = json_integers(shapes[i]);
    if (multiple == 0 || !sizes || sizes->size() < 2) continue;
    for (std::size_t d = sizes->size() - 2; d < sizes->size(); ++d) {
      // A size of 1 is a vector: padding it would multiply the work.
      if ((*sizes)[d] > 1 && (*sizes)[d] % multiple != 0) return true;
    }
  }
  return false;
}

/// A kernel of CUTLASS that uses tensor cores, and whose name says how much it loads at a time.
bool tells_alignment(std::string_view name) {
  return name.find("tensorop") != name.npos && name.find("_align") != name.npos;
}

/// Loads it less than 16 bytes at a time?
bool is_unaligned(std::string_view name) {
  if (!tells_alignment(name)) return false;
  const std::string_view elements = name.substr(name.find("_align") + 6);
  if (elements.starts_with("16")) return false;
  const bool half = name.find("f16_") != name.npos;
  return elements.starts_with('1') || elements.starts_with('2') ||
         (half && elements.starts_with('4'));
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  if (!has_shapes(trace) && !NameSet(trace, tells_alignment).any()) {
    return Abstention{"shapes were not recorded: record_shapes=True"};
  }
  const NameSet unaligned(trace, is_unaligned);
  const NameSet products(trace, is_product);
  std::vector<bool> bad;
  for (const Signature& signature : trace.signatures) bad.push_back(misfits(trace, signature));
  Blamed blamed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (unaligned.contains(trace.slices.name[activity.row()])) {
      blamed.add(rules, activity, op);
      return;
    }
    if (!op.valid() || !products.contains(trace.slices.name[op.row()])) return;
    const Signature* const signature = signature_of(trace, op);
    if (signature == nullptr) return;
    if (bad[static_cast<std::size_t>(signature - trace.signatures.data())]) {
      blamed.add(rules, activity, op);
    }
  });
  if (rules.percent(blamed.time) < kLeastPercent) return std::vector<Finding>{};
  Finding finding;
  finding.title = "GEMM sizes not aligned for Tensor Cores: " + per_step(rules, blamed.time);
  finding.family = Family::compute;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  Evidence evidence = evidence_of(rules, blamed, "");
  const SliceId longest = evidence.slices.front();
  const Signature* const worst = signature_of(trace, rules.context.links().op[longest.row()]);
  evidence.text = count_text(static_cast<std::int64_t>(blamed.activities.size())) +
                  " matrix multiplications, the longest " +
                  (worst != nullptr && worst->shapes.valid()
                       ? "of shapes " + flat_shapes(trace.text(worst->shapes))
                       : "by " + std::string(trace.name(longest)));
  finding.evidence.push_back(std::move(evidence));
  finding.counter_evidence =
      "Libraries pad inside some kernels: where the kernel uses Tensor Cores already, less is "
      "saved.";
  finding.fix = {
      .text = "Round hidden sizes, vocabulary and batch up to a multiple of 8 (64 is better).",
      .before = "vocab_size = 50257",
      .after = "vocab_size = 50304"};
  finding.verify = "fathom roofline TRACE";
  for (const SliceId product : blamed.activities) {
    finding.claims.push_back(claim(rules, product, kSavedAtBest));
    finding.edits.scale.emplace_back(product, static_cast<float>(1.0 - kSaved));
  }
  finding.assumption = "GEMMs of aligned sizes take 30 % less, half at best";
  finding.pessimism = 0.2;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace shape_alignment_rule

Rule shape_alignment() {
  return {.id = "shape-alignment",
          .title = "GEMM sizes not aligned for Tensor Cores",
          .doc = shape_alignment_rule::kDoc,
          .check = shape_alignment_rule::check};
}

}  // namespace fathom
