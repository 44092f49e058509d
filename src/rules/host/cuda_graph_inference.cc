// cuda-graph-inference: inference whose launches take longer than its kernels.
#include <algorithm>

#include "analysis/structure/stretches.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/late_launches.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace cuda_graph_inference_rule {
namespace {

constexpr std::string_view kDoc =
    "A small batch, or one token at a time, gives kernels of a few microseconds, each of which "
    "costs the host as long to launch. A CUDA graph launches all of them at once. Fires for "
    "passes without a backward pass that launch at least 30 kernels per step with a median below "
    "50 µs, fewer than a tenth of them from graphs, when the device idles for at least 20 % of the "
    "step for launches that come too late. Where autograd recorded the operators (sequence numbers "
    "grow), such a pass may as well be the first part of a training step, and is not called "
    "inference. Source: NVIDIA's advice on CUDA graphs (utilisation "
    "below 80 %, many kernels below 50 µs).";

constexpr std::int64_t kFewestKernels = 30;
constexpr Duration kShortKernel = duration_ns(50'000);
constexpr double kLeastPercent = 20.0;
constexpr double kMostInGraphs = 0.1;

struct Kernels {
  std::vector<SliceId> all;
  Duration median{};
  Duration time{};
  std::size_t in_graphs = 0;
};

Kernels kernels_of(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  Kernels kernels;
  std::vector<Duration> durations;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    if (trace.kind(activity) != SliceKind::kernel) return;
    kernels.all.push_back(activity);
    durations.push_back(trace.slices.duration[activity.row()]);
    kernels.time += rules.accounting.credited[activity.row()];
    if (rules.context.links().replay[activity.row()] > 0) ++kernels.in_graphs;
  });
  kernels.median = median_of(std::move(durations));
  return kernels;
}

std::size_t waits_inside(const RuleContext& rules) {
  return static_cast<std::size_t>(std::ranges::count_if(rules.syncs, [&](const SyncCall& sync) {
    return sync.device == rules.device && rules.counts(rules.trace().slices.start[sync.call.row()]);
  }));
}

/// Does autograd record these operators? Then each that makes a node has a number of its own.
bool records_gradients(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::int64_t first = kAbsent;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const std::uint32_t detail = trace.slices.detail[row];
    if (detail == SliceId::kNone || trace.kind(SliceId(row)) != SliceKind::cpu_op) continue;
    const std::int64_t number = trace.ops.sequence[detail];
    if (number == kAbsent || number < 0 || !rules.counts(trace.slices.start[row])) continue;
    if (first != kAbsent && number != first) return true;
    first = number;
  }
  return false;
}

/// What stands where a pass with gradients is no inference for sure.
void be_forward_only(Finding& finding) {
  finding.title.replace(0, std::string_view("Inference").size(), "A forward pass");
  finding.confidence = Confidence::medium;
  finding.evidence.push_back(
      {.text = "autograd records these operators (their sequence numbers grow), and no backward "
               "pass was recorded: the first part of a training step, or inference without "
               "torch.inference_mode()",
       .slices = {},
       .where = {},
       .location = {}});
  finding.counter_evidence =
      "If this is part of a training step, what the device waits for there shows only in a "
      "recording of whole steps.";
  finding.fix = {
      .text =
          "If it is inference, turn autograd off and capture the pass once: "
          "torch.inference_mode() with torch.compile(mode=\"reduce-overhead\") or a "
          "torch.cuda.CUDAGraph. If it is training, record whole steps first; "
          "torch.compile(mode=\"reduce-overhead\") and torch.cuda.make_graphed_callables "
          "capture forward and backward. Caveats: fixed shapes and addresses, no host waits "
          "inside, memory stays reserved for each graph.",
      .before = "y = model(x)",
      .after = "model = torch.compile(model, mode=\"reduce-overhead\")\ny = model(x)"};
}

Fix fix_of(const Frameworks& frameworks) {
  std::string text =
      "Capture the pass once and replay it: torch.compile(mode=\"reduce-overhead\"), or "
      "torch.cuda.CUDAGraph with static inputs; for serving, one graph per batch size (padded), as "
      "vLLM, SGLang and TensorRT-LLM do; or larger batches where latency allows. Caveats: fixed "
      "shapes and addresses, no host waits inside, memory stays reserved for each graph, the first "
      "calls are slow.";
  if (frameworks.vllm && frameworks.generates) {
    return {.text =
                "The model is compiled, so that vLLM captures graphs, up to its largest captured "
                "size; longer passes are launched kernel by kernel. Capture larger sizes. Caveat: "
                "each captured size takes memory and time at the start.",
            .before = "LLM(model)",
            .after =
                "LLM(model, compilation_config={\"cudagraph_capture_sizes\": [1, 8, 64, 512, "
                "1024]})"};
  }
  if (frameworks.vllm) {
    return {.text = std::move(text),
            .before = "LLM(model, enforce_eager=True)",
            .after = "LLM(model)  # captures graphs by itself"};
  }
  text +=
      " Where shapes vary too much for graphs, take Python away: torch.export with AOTInductor, or "
      "torch.jit.freeze(torch.jit.script(model.eval())). Caveats: both need a model without free "
      "Python, and freezing makes constants of the weights.";
  return {.text = std::move(text),
          .before = frameworks.generates ? "model = torch.compile(model)"
                                         : "with torch.inference_mode(): y = model(x)",
          .after =
              "model = torch.compile(model, mode=\"reduce-overhead\")\n"
              "with torch.inference_mode(): y = model(x)"};
}

Finding make(const RuleContext& rules, const Kernels& kernels, LateLaunches late) {
  const Duration idle = total(late.claims);
  const auto per = static_cast<std::int64_t>(kernels.all.size()) / step_count(rules);
  const std::size_t waits = waits_inside(rules);
  Finding finding;
  finding.title = "Inference launches " + count_text(per) + " short kernels one by one: idle for " +
                  per_step(rules, idle);
  finding.family = Family::host;
  finding.weight = weight_of(rules, idle, 20, 50);
  finding.confidence =
      waits > static_cast<std::size_t>(step_count(rules)) ? Confidence::medium : Confidence::high;
  finding.effort = Effort::line;
  Evidence evidence;
  evidence.text = "kernels of " + duration_text(kernels.median) + " (median) run for " +
                  per_step(rules, kernels.time) + ", none or few from a graph; no backward pass";
  evidence.slices = costliest(rules.trace(), kernels.all);
  evidence.where = late.longest;
  finding.evidence.push_back(std::move(evidence));
  finding.counter_evidence =
      waits > 0
          ? counted_noun(waits, "call") +
                " in these steps wait for the device: what lies around them cannot be captured "
                "as one graph."
          : "A graph needs the same shapes and addresses each time; recording also slows the "
            "host by about 0.6 µs per operator.";
  finding.fix = fix_of(frameworks_of(rules.trace()));
  finding.verify = "fathom launches TRACE";
  finding.claims = std::move(late.claims);
  finding.edits.launch_once = true;
  finding.assumption = "each step is launched as one graph; the kernels stay as they are";
  finding.pessimism = 0.4;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const auto operators = [](const Category& category) {
    return category.kind == SliceKind::cpu_op && category.slices > 0;
  };
  if (std::ranges::none_of(rules.trace().categories, operators)) {
    return Abstention{"no operators were recorded, so inference cannot be recognised"};
  }
  if (device_unrecorded(rules)) return Abstention{"most kernels were not recorded"};
  if (!speaks_cuda(rules.trace())) return Abstention{"the device is no GPU of CUDA or HIP"};
  if (is_training(rules)) return std::vector<Finding>{};
  if (mostly_once(rules))
    return Abstention{"most of the time is spent on what is done only once: record later steps"};
  const Kernels kernels = kernels_of(rules);
  const auto count = static_cast<std::int64_t>(kernels.all.size());
  const bool graphs =
      static_cast<double>(kernels.in_graphs) > kMostInGraphs * static_cast<double>(count);
  if (count < kFewestKernels * step_count(rules) || kernels.median >= kShortKernel || graphs) {
    return std::vector<Finding>{};
  }
  LateLaunches late = late_launches(rules);
  if (rules.percent(total(late.claims)) < kLeastPercent) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(make(rules, kernels, std::move(late)));
  if (records_gradients(rules)) be_forward_only(findings.back());
  return findings;
}

}  // namespace
}  // namespace cuda_graph_inference_rule

Rule cuda_graph_inference() {
  return {.id = "cuda-graph-inference",
          .title = "Inference bound by its launches",
          .doc = cuda_graph_inference_rule::kDoc,
          .check = cuda_graph_inference_rule::check};
}

}  // namespace fathom
