// shape-alignment: GEMMs whose dimensions are not multiples of the tile.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

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
namespace shape_alignment_rule {
namespace {

constexpr std::string_view kDoc =
    "Tensor Cores work on tiles. GEMMs of 16-bit floats need each dimension that lies densely in "
    "memory to be a multiple of 8, those of 8-bit numbers a multiple of 16; else a slower kernel "
    "is chosen. The number of rows does not matter. Fires when mm, addmm, bmm and baddbmm of such "
    "types with another dense dimension take at least 2 % of the step. Kernels whose names say how "
    "many elements they load at a time count by that alone (CUTLASS's align, cuBLAS's ldg8): "
    "align1 "
    "and align2, and align4 of 16-bit floats, load less than the 16 bytes that aligned sizes allow "
    "(TF32 needs multiples of 4). Those of 64-bit floats do so for any size. Sources: NVIDIA's "
    "matrix multiplication guide; CUTLASS's naming; "
    "TorchTidy's "
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

/// An operand of a product: its last two sizes, and which of them lies densely in memory.
struct Operand {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  enum class Dense : std::uint8_t { unknown, rows, columns } dense = Dense::unknown;
  std::int64_t multiple = 0;
};

Operand::Dense dense_of(const std::vector<std::int64_t>& strides) {
  const std::int64_t rows = strides[strides.size() - 2];
  const std::int64_t columns = strides.back();
  if (rows == columns) return Operand::Dense::unknown;
  return columns == 1 ? Operand::Dense::columns
         : rows == 1  ? Operand::Dense::rows
                      : Operand::Dense::unknown;
}

/// The operands with at least two dimensions, of types that tensor cores take in tiles. The first
/// and second are multiplied, one before them is added.
std::vector<Operand> operands_of(const Trace& trace, const Signature& signature) {
  std::vector<Operand> operands;
  if (!signature.shapes.valid() || !signature.types.valid()) return operands;
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature.shapes));
  const std::vector<std::string_view> types = json_elements(trace.text(signature.types));
  const std::vector<std::string_view> strides = signature.strides.valid()
                                                    ? json_elements(trace.text(signature.strides))
                                                    : std::vector<std::string_view>();
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    const std::int64_t multiple = multiple_of(number_type(json_unquoted(types[i])));
    const auto sizes = json_integers(shapes[i]);
    if (multiple == 0 || !sizes || sizes->size() < 2) continue;
    Operand operand{.rows = (*sizes)[sizes->size() - 2],
                    .columns = sizes->back(),
                    .dense = Operand::Dense::unknown,
                    .multiple = multiple};
    const auto steps = i < strides.size() ? json_integers(strides[i]) : std::nullopt;
    if (steps && steps->size() == sizes->size()) operand.dense = dense_of(*steps);
    operands.push_back(operand);
  }
  return operands;
}

/// A size of 1 is a vector: padding it would multiply the work.
bool misfits(std::int64_t size, std::int64_t multiple) { return size > 1 && size % multiple != 0; }

/// What a product's sizes are: the first one that lies densely in memory and does not fit; 0 where
/// all do. Rows that follow one another in memory may be any number. Where layouts were not
/// recorded, a forward pass multiplies rows by columns; of a backward pass only what is certain
/// counts: both products there share the columns of the second operand.
std::int64_t misfit_of(const Trace& trace, const Signature& signature, bool backward) {
  const std::vector<Operand> operands = operands_of(trace, signature);
  if (operands.size() < 2) return 0;
  const Operand& left = operands[operands.size() - 2];
  const Operand& right = operands.back();
  using Dense = Operand::Dense;
  if (left.dense == Dense::unknown && right.dense == Dense::unknown && backward) {
    if (misfits(right.columns, right.multiple)) return right.columns;
    return misfits(left.rows, left.multiple) && misfits(left.columns, left.multiple) ? left.columns
                                                                                     : 0;
  }
  const auto dense_size = [](const Operand& of) {
    return of.dense == Dense::rows ? of.rows : of.columns;
  };
  for (const std::int64_t size : {dense_size(left), dense_size(right), right.columns})
    if (misfits(size, left.multiple)) return size;
  return 0;
}

/// CUTLASS's kernels with Tensor Cores name the elements that they load at a time.
bool names_alignment(std::string_view name) {
  return name.find("tensorop") != name.npos && name.find("_align") != name.npos;
}

/// A kernel whose name says how much it loads at a time: also cuBLAS's for 16-bit floats.
bool tells_alignment(std::string_view name) {
  return names_alignment(name) || name.find("_ldg8_") != name.npos;
}

/// Kernels of 64-bit floats load element by element, whatever the sizes: d884 is real, z884
/// complex.
bool is_double(std::string_view name) {
  return name.find("d884gemm") != name.npos || name.find("z884gemm") != name.npos;
}

/// Loads it less than 16 bytes at a time?
bool is_unaligned(std::string_view name) {
  if (!names_alignment(name) || is_double(name)) return false;
  const std::string_view elements = name.substr(name.find("_align") + 6);
  if (elements.starts_with("16")) return false;
  const bool half = name.find("f16_") != name.npos;
  return elements.starts_with('1') || elements.starts_with('2') ||
         (half && elements.starts_with('4'));
}

/// What the advice speaks of: the size that misfits most of the time.
struct Sizes {
  std::map<std::int64_t, Duration> time;
  [[nodiscard]] std::int64_t worst() const {
    const auto most =
        std::ranges::max_element(time, {}, [](const auto& each) { return each.second; });
    return most == time.end() ? 0 : most->first;
  }
};

/// A vocabulary is large, and what looks its tokens up is seen.
constexpr std::int64_t kLeastVocabulary = 10'000;

Fix fix_of(const Trace& trace, std::int64_t size) {
  const auto rounded = [size](std::int64_t to) {
    return std::to_string((size + to - 1) / to * to);
  };
  if (size >= kLeastVocabulary && frameworks_of(trace).embeds) {
    return {.text =
                "Round the vocabulary up to a multiple of 64. Caveat: a trained model's tables get "
                "rows of zeros, and its added outputs must be left out of the softmax.",
            .before = "vocab_size = " + std::to_string(size),
            .after = "vocab_size = " + rounded(64)};
  }
  if (size == 0) {
    return {.text =
                "Round the sizes that lie densely in memory (features, heads) up to a multiple of "
                "8; operands that are slices of others should begin at one, too.",
            .before = "",
            .after = ""};
  }
  return {
      .text = "Round the size " + std::to_string(size) +
              " up to a multiple of 8 (64 is better). Caveat: a trained model's weights have to be "
              "padded with zeros; of a length of sequences the padding has to be masked.",
      .before = "n = " + std::to_string(size),
      .after = "n = " + rounded(8)};
}

/// Looks at each signature once for each direction.
class Misfits {
 public:
  explicit Misfits(const Trace& trace) : trace_(trace) {
    for (auto& known : known_) known.resize(trace.signatures.size(), kUnknown);
  }
  std::int64_t of(SliceId op, bool backward) {
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr) return 0;
    std::int64_t& known =
        known_[backward ? 1 : 0][static_cast<std::size_t>(signature - trace_.signatures.data())];
    if (known == kUnknown) known = misfit_of(trace_, *signature, backward);
    return known;
  }

 private:
  static constexpr std::int64_t kUnknown = -1;
  const Trace& trace_;
  std::array<std::vector<std::int64_t>, 2> known_;
};

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  if (!has_shapes(trace) && !NameSet(trace, names_alignment).any()) {
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  }
  const NameSet unaligned(trace, is_unaligned);
  const NameSet products(trace, is_product);
  const NameSet told(trace, tells_alignment);
  Misfits misfitting(trace);
  Sizes sizes;
  Blamed blamed;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const StringId kernel = trace.slices.name[activity.row()];
    const bool product = op.valid() && products.contains(trace.slices.name[op.row()]);
    // A kernel that says what it loads is believed; others are judged by their operands.
    const bool by_name = told.contains(kernel);
    if (by_name ? !unaligned.contains(kernel) : !product) return;
    const bool backward = op.valid() && rules.context.phases()[op] == Phase::backward;
    const std::int64_t size = product ? misfitting.of(op, backward) : 0;
    if (!by_name && size == 0) return;
    blamed.add(rules, activity, op);
    if (size > 0) sizes.time[size] += rules.accounting.credited[activity.row()];
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
  finding.fix = fix_of(trace, sizes.worst());
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
