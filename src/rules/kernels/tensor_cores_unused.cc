// tensor-cores-unused: GEMMs that could run on Tensor Cores and do not.
#include <algorithm>
#include <map>

#include "analysis/kernels/occupancy.h"
#include "analysis/roofline/kernel_type.h"
#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace tensor_cores_unused_rule {
namespace {

constexpr std::string_view kDoc =
    "Matrix multiplication, convolutions and attention run several times faster on Tensor Cores "
    "than on the ordinary units. Fires when kernels of these classes that do not use them take at "
    "least 5 % of the step on a device that has them (NVIDIA compute capability 7.0 and newer; for "
    "32-bit floats 8.0, by TF32; where the device's properties were not recorded, the generation "
    "that its kernels are named after). The type is that of the operator's tensors, else what the "
    "kernel's name shows; kernels of unknown type, and those that a program's own operators "
    "launch or that it launches outside of operators, "
    "do not count, nor do multiplications of a matrix by a vector (GEMV). Kernels that use Tensor "
    "Cores are "
    "recognised by name. Source: the former "
    "TensorBoard plugin's rule, whose list of names ended at Ampere; NVIDIA's tuning guide (TF32, "
    "mixed precision); TorchTidy's FP32MatMul.";

constexpr double kLeastPercent = 5.0;
/// Peaks promise more than matrix multiplications of real size reach: a kernel is taken to get at
/// most this much faster.
constexpr double kMostSpeedup = 3.0;
constexpr std::int32_t kVolta = 7;
constexpr std::int32_t kAmpere = 8;

bool is_product(KernelClass kind) {
  return kind == KernelClass::gemm || kind == KernelClass::conv || kind == KernelClass::attention;
}

/// The first tensor's type, as torch spells it, or "".
std::string_view first_type(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->types.valid()) return {};
  for (const std::string_view quoted : json_elements(trace.text(signature->types))) {
    const std::string_view type = json_unquoted(quoted);
    if (element_bytes(type) != 0) return type;
  }
  return {};
}

/// The number type of first_type(), each signature taken apart once.
class KnownTypes {
 public:
  NumberType of(const Trace& trace, SliceId op) {
    const auto [known, is_new] = known_.try_emplace(signature_of(trace, op));
    if (is_new) known->second = number_type(first_type(trace, op));
    return known->second;
  }

 private:
  std::map<const Signature*, NumberType> known_;
};

/// Did the program launch this kernel by itself: in no operator, though operators were recorded,
/// and not as part of a graph? Libraries' kernels are in the operators of torch.
bool launched_by_program(const RuleContext& rules, SliceId kernel) {
  const Links& links = rules.context.links();
  const SliceId launch = links.launch[kernel.row()];
  if (!launch.valid() || links.call_kind(rules.trace(), launch) != CallKind::launch) return false;
  return std::ranges::any_of(rules.trace().categories, [](const Category& category) {
    return category.kind == SliceKind::cpu_op && category.slices > 0;
  });
}

/// Is it a node of the backward pass that torch made, as "AddmmBackward0"? Those of a program's own
/// functions have no number.
bool is_node_of_torch(std::string_view op) {
  const std::size_t last = op.find_last_not_of("0123456789");
  return last != op.npos && last + 1 < op.size() && op.substr(0, last + 1).ends_with("Backward");
}

/// What a product's kernel computes with: the type of its operator's tensors, else what its own
/// name shows. Unknown for operators of the program, which autocast does not reach.
NumberType type_of(const RuleContext& rules, SliceId kernel, SliceId op, KnownTypes& types,
                   KernelTypes& by_name) {
  const Trace& trace = rules.trace();
  if (op.valid() && (trace.name(op).starts_with("aten::") || is_node_of_torch(trace.name(op)))) {
    const NumberType type = types.of(trace, op);
    return type != NumberType::unknown ? type : by_name.of(kernel);
  }
  const bool of_program = op.valid() ? trace.name(op).find("Compiled") == std::string_view::npos
                                     : launched_by_program(rules, kernel);
  if (of_program) return NumberType::unknown;
  return by_name.of(kernel);
}

/// Kernels of GEMMs that tensor cores have nothing to do in: they add up the parts of one that
/// was split, or multiply by a vector, which reads each number of the matrix once.
bool has_no_tiles(std::string_view kernel) {
  return kernel.find("splitKreduce") != kernel.npos || kernel.find("gemv") != kernel.npos;
}

struct Found {
  Blamed single;  // 32-bit floats.
  Blamed half;    // Types that tensor cores take, and yet they were not used.
};

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  Found found;
  KnownTypes types;
  KernelTypes by_name(trace);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (trace.kind(activity) != SliceKind::kernel) return;
    const KernelTraits& traits = timelines.traits_of(trace, activity);
    if (!is_product(traits.kernel_class) || traits.tensor_cores) return;
    if (has_no_tiles(trace.name(activity))) return;
    switch (type_of(rules, activity, op, types, by_name)) {
      case NumberType::fp16:
      case NumberType::bf16:
        found.half.add(rules, activity, op);
        break;
      case NumberType::fp32:
        found.single.add(rules, activity, op);
        break;
      default:
        break;
    }
  });
  return found;
}

/// The major compute capability of the device: as recorded, else of the generation that most of its
/// kernels are named after; 0 where nothing shows it.
std::int32_t generation(const RuleContext& rules) {
  if (const Device* const device = device_of(rules)) return device->compute_major;
  struct Generation {
    std::string_view prefix;
    std::int32_t major;
  };
  constexpr Generation kGenerations[] = {{"volta_", 7}, {"turing_", 7}, {"ampere_", 8},
                                         {"sm80_", 8},  {"sm90_", 9},   {"sm100_", 10}};
  std::int32_t newest = 0;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    for (const Generation& each : kGenerations) {
      if (rules.trace().name(activity).starts_with(each.prefix))
        newest = std::max(newest, each.major);
    }
  });
  return newest;
}

/// The share of the time that the device's peaks let go in its best type, at most what kMostSpeedup
/// allows.
double saved(const RuleContext& rules, bool tf32) {
  double speedup = kMostSpeedup;
  if (const DeviceSpec* const spec = rules.roofline.device; spec != nullptr && spec->fp32 > 0) {
    const double half = std::max(spec->fp16_matrix, tf32 ? spec->bf16_matrix : 0.0);
    const double matrix = std::max(half, tf32 ? spec->tf32_matrix : 0.0);
    if (matrix > 0) speedup = std::min(speedup, matrix / spec->fp32);
  }
  return 1.0 - 1.0 / std::max(speedup, 1.0);
}

/// Are most of these kernels convolutions, which PyTorch runs in TF32 by itself?
bool are_convolutions(const RuleContext& rules, const Blamed& blamed) {
  Duration time{};
  for (const SliceId kernel : blamed.activities)
    if (rules.context.timelines().traits_of(rules.trace(), kernel).kernel_class ==
        KernelClass::conv)
      time += rules.accounting.credited[kernel.row()];
  return 2 * time > blamed.time;
}

/// Does any kernel of the recording compute in TF32?
bool uses_tf32(const RuleContext& rules) {
  bool found = false;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    found = found || rules.trace().name(activity).find("tf32") != std::string_view::npos;
  });
  return found;
}

/// Why TF32 is known to be on, where the device has it; else "".
std::string_view tf32_enabled(const RuleContext& rules, const Blamed& blamed) {
  if (are_convolutions(rules, blamed)) {
    return "TF32 for convolutions is on unless torch.backends.cudnn.allow_tf32 is False.";
  }
  return uses_tf32(rules) ? "TF32 is on: other kernels of the recording compute in it." : "";
}

/// `enabled`: see tf32_enabled.
Fix fix_of(const RuleContext& rules, bool tf32, std::string_view enabled) {
  const bool training = is_training(rules);
  const std::string type = tf32 ? "bfloat16" : "float16";
  if (multiplies_in_few_bits(rules)) {
    return {.text =
                "The other matrix multiplications run in 16 or 8 bits already. These have 32-bit "
                "operands: find "
                "who leaves them so (a part outside of the region, a cast, an input). Caveat: sums "
                "and losses often stay in 32 bits on purpose.",
            .before = "",
            .after = ""};
  }
  const std::string code = "with torch.autocast('cuda', dtype=torch." + type +
                           "): " + (training ? "loss = model(x)" : "y = model(x)");
  if (!tf32) {
    const std::string scaled =
        training ? " with a gradient scaler: small gradients would become zero, "
                   "and what exceeds 65504 infinite or NaN; the scaler skips such "
                   "steps, at the start several. Unscale before clipping "
                   "gradients; a loss that stays NaN needs 32 bits where it arises"
                 : "; values above 65504 become infinite";
    return {
        .text = "Compute in 16-bit floats by automatic mixed precision" + scaled +
                ". This device has Tensor Cores for those only. Caveat: not for parts that need "
                "the range or the digits of 32 bits.",
        .before = training ? "loss = model(x)\nloss.backward(); optimizer.step()" : "y = model(x)",
        .after = training ? "scaler = torch.amp.GradScaler('cuda')  # once\n" + code +
                                "\nscaler.scale(loss).backward(); scaler.step(optimizer); "
                                "scaler.update()"
                          : code};
  }
  if (!enabled.empty()) {
    return {.text = "Compute in bf16 by automatic mixed precision. " + std::string(enabled) +
                    " Caveat: bf16 keeps 7 bits of mantissa; it has the range of 32 bits and needs "
                    "no gradient scaler.",
            .before = training ? "loss = model(x)" : "y = model(x)",
            .after = code};
  }
  return {.text =
              "Enable TF32 for matrix multiplication, or compute in bf16 by automatic mixed "
              "precision. Caveat: TF32 keeps 10 bits of mantissa, bf16 7, which is enough for most "
              "models: compare the results. bf16 has the range of 32 bits and needs no gradient "
              "scaler.",
          .before = "",
          .after = "torch.set_float32_matmul_precision('high')\n" + code};
}

Finding single_precision(const RuleContext& rules, const Blamed& blamed, bool tf32) {
  Finding finding;
  finding.key = "fp32";
  const std::string_view enabled = tf32_enabled(rules, blamed);
  finding.title = (tf32 && enabled.empty()
                       ? "TF32 disabled: 32-bit matrix multiplications without Tensor Cores: "
                       : "32-bit matrix multiplications without Tensor Cores: ") +
                  per_step(rules, blamed.time);
  finding.confidence = Confidence::medium;
  finding.effort = tf32 ? Effort::line : Effort::refactoring;
  finding.counter_evidence =
      "Only large matrix multiplications reach peaks; one that is bound by memory gets little "
      "faster.";
  finding.fix = fix_of(rules, tf32, enabled);
  return finding;
}

Finding half_precision(const RuleContext& rules, const Blamed& blamed) {
  Finding finding;
  finding.key = "half";
  finding.title =
      "16-bit matrix multiplications without Tensor Cores: " + per_step(rules, blamed.time);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.counter_evidence =
      "Use of Tensor Cores is recognised by kernel names, and new names may be unknown.";
  finding.fix = {.text =
                     "Let the dimensions that lie densely in memory be multiples of 8 (features, "
                     "channels), and keep operands contiguous, so that the library can choose a "
                     "Tensor Core kernel. Caveat: a trained model's weights have to be padded with "
                     "zeros.",
                 .before = "",
                 .after = ""};
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const Device* const device = device_of(rules);
  if (device != nullptr && !multiprocessor_limits(*device)) {
    return Abstention{"kernel names of this device do not show whether they use matrix units"};
  }
  const std::int32_t major = generation(rules);
  if (major == 0) {
    return Abstention{
        "the properties of the device were not recorded, and its kernels do not name it"};
  }
  if (major < kVolta) return std::vector<Finding>{};
  const bool tf32 = major >= kAmpere;
  const Found found = look(rules);
  std::vector<Finding> findings;
  const auto add = [&](Finding finding, const Blamed& blamed) {
    finding.family = Family::compute;
    finding.weight = rules.percent(blamed.time) >= 20 ? Weight::critical : Weight::warning;
    finding.evidence.push_back(evidence_of(
        rules, blamed,
        count_text(static_cast<std::int64_t>(blamed.activities.size())) +
            " kernels of matrix multiplication, convolution or attention do not use Tensor Cores"));
    finding.verify = "fathom kernels TRACE --filter tensor_cores=no --sort -total_ns";
    claim_blamed(rules, blamed, saved(rules, tf32), finding);
    finding.assumption =
        "a matrix multiplication gets faster by the ratio of the peaks in the best type (half "
        "precision where that is faster than TF32), at most threefold";
    finding.pessimism = 0.4;
    findings.push_back(std::move(finding));
  };
  if (rules.percent(found.single.time) >= kLeastPercent) {
    add(single_precision(rules, found.single, tf32), found.single);
  }
  if (rules.percent(found.half.time) >= kLeastPercent) {
    add(half_precision(rules, found.half), found.half);
  }
  return findings;
}

}  // namespace
}  // namespace tensor_cores_unused_rule

Rule tensor_cores_unused() {
  return {.id = "tensor-cores-unused",
          .title = "Matrix multiplication without Tensor Cores",
          .doc = tensor_cores_unused_rule::kDoc,
          .check = tensor_cores_unused_rule::check};
}

}  // namespace fathom
