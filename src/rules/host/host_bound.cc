// host-bound: the host launches more slowly than the device works.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/structure/stretches.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/late_launches.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/recorded_lines.h"
#include "rules/common/sampled_lines.h"
#include "rules/rule.h"

namespace fathom {
namespace host_bound_rule {
namespace {

constexpr std::string_view kDoc =
    "Many short kernels, each launched by Python and the dispatcher, leave the device waiting for "
    "the next launch. Counted is idle device time before whose end the launching thread was inside "
    "an operator or launching call, or in plain Python, and the launch until the work begins (one "
    "of a millisecond loads something, and is left out), where the queue had run dry and no "
    "synchronising call opened the gap; nothing counts after the last activity. "
    "Fires from 5 % of the step, warns from 10 %, is critical from 20 %; the confidence is "
    "high where the median kernel is shorter than 10 µs. Silent where a step has fewer than five "
    "kernels that last 50 µs or longer: what the host then does is no launching. Abstains where "
    "half of the time is spent on what is done only once. Recorded lines of the launching thread "
    "name the one that has most of the gaps; without them and frames, samples of its stacks do. "
    "Without a device, many short operators "
    "cost more to call than they compute: counted are Python's stretches of at most 200 µs between "
    "operators, and of each operator's own time at most 5 µs; fires from 30 % of the step, and 100 "
    "operators, where no other rule explains so much of it that less than 30 % is left (10 % where "
    "that Python alone is 10 % of the step and a quarter of the operators' time). Sources: HTA's "
    "host wait; TraceLens and nsys-ai (10 "
    "µs); NVIDIA's advice on CUDA "
    "graphs (utilisation below 80 %, many kernels below 50 µs).";

constexpr double kLeastPercent = 5.0;
constexpr double kLeastPercentOfCalls = 30.0;
/// Where Python before the calls alone is so much of the step, and of what operators take, it makes
/// the verdict: then less of it is worth a finding.
constexpr double kLeastPercentOfCallers = 10.0;
constexpr double kCallersPerOperators = 0.25;
constexpr std::int64_t kFewestOperators = 100;
/// A larger batch or a compiler is expected to make one call of so many, and to spare this share of
/// what that gains at least.
constexpr int kCallsMerged = 2;
constexpr double kSparedAtLeast = 0.4;
constexpr Duration kShortKernel = duration_ns(10'000);
/// Launching fewer kernels than these costs little; where each is long, the host does something
/// else.
constexpr std::int64_t kFewestKernels = 5;
constexpr Duration kLongKernel = duration_ns(50'000);

std::string recording_slows(const RuleContext& rules) {
  return has_frames(rules)
             ? "Python stacks were recorded, which slows the host: compare the step time without."
             : "Recording costs the host 1 to 2 µs per operator: compare the step time without.";
}

struct Kernels {
  std::size_t count = 0;
  Duration median{};
  std::size_t in_graphs = 0;
};

Kernels kernels_of(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  std::vector<Duration> durations;
  Kernels kernels;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    if (trace.kind(activity) != SliceKind::kernel) return;
    durations.push_back(trace.slices.duration[activity.row()]);
    if (rules.context.links().replay[activity.row()] > 0) ++kernels.in_graphs;
  });
  kernels.count = durations.size();
  if (durations.empty()) return kernels;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  kernels.median = *middle;
  return kernels;
}

/// Without a device: what calling this operator costs at most, beside Python.
Duration call_of(const RuleContext& rules, SliceId op) {
  return std::min(rules.self_times[op.row()], kOperatorCall);
}

/// Without a device: calls visit(piece, time) for the Python between operators.
template <typename Visit>
void for_each_caller(const RuleContext& rules, const Visit& visit) {
  CountedTime counted(rules);
  for (const HostPiece& piece : rules.accounting.host) {
    const Duration time = piece.interval.length();
    const bool calls = piece.bucket == HostBucket::python && time <= kLongestCall;
    if (counted.holds(piece.interval.begin) && calls) visit(piece, time);
  }
}

/// What merging calls spares of this time.
Duration spared(Duration time) { return time - time / kCallsMerged; }

void claim_calls(const RuleContext& rules, std::span<const SliceId> operators, Finding& finding) {
  for (const SliceId op : operators) {
    const Duration own = rules.self_times[op.row()];
    const Duration call = call_of(rules, op);
    if (call <= Duration{}) continue;
    finding.claims.push_back({.slice = op, .time = call});
    const double left =
        1.0 - static_cast<double>(to_ns(spared(call))) / static_cast<double>(to_ns(own));
    finding.edits.scale.emplace_back(op, static_cast<float>(left));
  }
  RemovedTime removed(rules);
  for_each_caller(rules, [&](const HostPiece& piece, Duration time) {
    finding.claims.push_back(piece_claim(rules, piece, time));
    removed.add(piece.op, spared(time));
  });
  removed.to(finding.edits);
}

std::vector<SliceId> operators_of(const RuleContext& rules) {
  std::vector<SliceId> operators;
  for_each_work(rules, [&operators](SliceId op, SliceId) { operators.push_back(op); });
  return operators;
}

Fix fix_of_calls(bool training) {
  return {
      .text = std::string("Give each call more to do: a larger batch in place of many small ones") +
              (training ? " or of accumulated gradients" : "") +
              ", whole tensors in place of parts; or let torch.compile merge the calls" +
              (training ? "."
                        : "; torch.jit.freeze(torch.jit.script(model.eval())) or torch.export with "
                          "AOTInductor take Python away, too. Caveat: these need a model without "
                          "free Python, and freezing makes constants of the weights."),
      .before = training ? "for part in x.split(4): loss(model(part)).backward()"
                         : "y = [model(sample) for sample in samples]",
      .after = training ? "loss(model(x)).backward()" : "y = model(torch.stack(samples))"};
}

Outcome check_calls(const RuleContext& rules) {
  const std::vector<SliceId> operators = operators_of(rules);
  if (operators.empty())
    return Abstention{"neither a device's activity nor operators were recorded"};
  Duration callers_time{};
  for_each_caller(rules, [&](const HostPiece&, Duration called) { callers_time += called; });
  Duration time = callers_time;
  for (const SliceId op : operators) time += call_of(rules, op);
  const auto per = static_cast<std::int64_t>(operators.size()) / step_count(rules);
  if (per < kFewestOperators || rules.percent(time) < kLeastPercentOfCalls) {
    return std::vector<Finding>{};
  }
  Finding finding;
  finding.title = count_text(per) + " operators per step are too short for what calling them costs";
  finding.family = Family::host;
  finding.weight = weight_of(rules, time, kLeastPercentOfCalls, 50);
  finding.effort = Effort::refactoring;
  std::vector<Duration> own;
  own.reserve(operators.size());
  for (const SliceId op : operators) own.push_back(rules.self_times[op.row()]);
  finding.evidence.push_back(evidence_of(
      rules, operators,
      count_text(per) + " operators per step, nested ones included, that compute for " +
          duration_text(median_of(std::move(own))) + " (median); the longest are shown"));
  std::vector<Interval> callers;
  for_each_caller(rules,
                  [&](const HostPiece& piece, Duration) { callers.push_back(piece.interval); });
  if (std::optional<Evidence> line =
          recorded_line(rules, std::move(callers), rules.accounting.main_thread))
    finding.evidence.push_back(std::move(*line));
  finding.counter_evidence = recording_slows(rules);
  finding.fix = fix_of_calls(is_training(rules));
  finding.verify = "fathom ops TRACE --sort -calls";
  claim_calls(rules, operators, finding);
  finding.assumption = "half of the calls are avoided";
  finding.pessimism = kSparedAtLeast;
  Duration computing{};
  for (const SliceId op : operators) computing += rules.self_times[op.row()];
  const bool decides = rules.percent(callers_time) >= kLeastPercentOfCallers &&
                       static_cast<double>(to_ns(callers_time)) >=
                           kCallersPerOperators * static_cast<double>(to_ns(computing));
  finding.least_percent = decides ? kLeastPercentOfCallers : kLeastPercentOfCalls;
  return std::vector<Finding>{std::move(finding)};
}

/// Do launches of an optimizer's step end nearly all of this time?
bool of_optimizer(const RuleContext& rules, const std::vector<Claim>& claims) {
  constexpr double kNearlyAll = 0.9;
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  Duration sum{};
  for (const Claim& claim : claims) {
    const SliceId launch = device.gaps[claim.gap].launch;
    if (launch.valid() && rules.context.phases()[launch] == Phase::optimizer) sum += claim.time;
  }
  return static_cast<double>(to_ns(sum)) >= kNearlyAll * static_cast<double>(to_ns(total(claims)));
}

Fix fix_of_optimizer() {
  return {.text =
              "Nearly all of them are the optimizer's: let it update all parameters at once, by a "
              "foreach or fused implementation where it has one, or compile its step.",
          .before = "optimizer.step()",
          .after = "torch.compile(optimizer.step)()"};
}

/// vLLM compiles the model and captures graphs by itself.
Fix fix_of_vllm(const RuleContext& rules) {
  const auto replays = [](std::string_view name) { return name.ends_with("GraphLaunch"); };
  if (NameSet(rules.trace(), replays).any()) {
    return {.text =
                "Passes are replayed from graphs already: what is left is the server's own work "
                "between them. More requests at once share it (max_num_seqs), and "
                "async_scheduling prepares the next pass while the device works.",
            .before = "LLM(model)",
            .after = "LLM(model, async_scheduling=True)"};
  }
  return {.text =
              "vLLM replays graphs of passes up to its largest captured size, unless "
              "enforce_eager=True is given; longer passes are launched kernel by kernel. Capture "
              "larger sizes, or read more tokens in one pass (max_num_batched_tokens), which "
              "makes each kernel longer. Caveat: each captured size takes memory and time at the "
              "start.",
          .before = "LLM(model)",
          .after =
              "LLM(model, compilation_config={\"cudagraph_capture_sizes\": [1, 8, 64, 512, "
              "1024]})"};
}

/// Graphs are CUDA's and HIP's; a larger batch helps everywhere.
Fix fix_of(const RuleContext& rules) {
  if (!speaks_cuda(rules.trace())) {
    return {.text =
                "Launch less: a larger batch, which makes each kernel longer, or the accelerator's "
                "compiler, which joins operators.",
            .before = "",
            .after = ""};
  }
  if (frameworks_of(rules.trace()).vllm) return fix_of_vllm(rules);
  const std::string optimizers = is_training(rules) ? "fused optimizers, " : "";
  return {
      .text =
          "Launch less or launch all at once: torch.compile(mode=\"reduce-overhead\") or CUDA "
          "graphs (static shapes and addresses, no host waits inside, memory stays reserved), " +
          optimizers + "or a larger batch, which makes each kernel longer.",
      .before =
          frameworks_of(rules.trace()).generates ? "model = torch.compile(model)" : "model(x)",
      .after = "model = torch.compile(model, mode=\"reduce-overhead\")"};
}

/// The line that the launching thread is in while the device waits: as recorded, else by samples.
std::optional<Evidence> line_in_gaps(const RuleContext& rules, const LateLaunches& late) {
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  std::vector<Interval> gaps;
  SliceId launch{};
  for (const Claim& claim : late.claims) {
    const Gap& gap = device.gaps[claim.gap];
    gaps.push_back(gap.interval);
    if (gap.launch.valid()) launch = gap.launch;
  }
  if (!launch.valid()) return std::nullopt;
  const TrackId track = rules.trace().slices.track[launch.row()];
  if (std::optional<Evidence> line = recorded_line(rules, gaps, track)) return line;
  return sampled_line(rules, std::move(gaps), track);
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"most kernels were not recorded"};
  if (rules.device < 0) return check_calls(rules);
  if (mostly_once(rules))
    return Abstention{"most of the time is spent on what is done only once: record later steps"};
  LateLaunches late = late_launches(rules);
  const Duration idle = total(late.claims);
  if (rules.percent(idle) < kLeastPercent) return std::vector<Finding>{};
  const Kernels kernels = kernels_of(rules);
  if (kernels.count == 0) return std::vector<Finding>{};
  const auto per = static_cast<std::int64_t>(kernels.count) / step_count(rules);
  if (per < kFewestKernels && kernels.median >= kLongKernel) return std::vector<Finding>{};
  Finding finding;
  finding.title = "The device waits for launches: " + per_step(rules, idle) + ", with " +
                  count_text(per) + " kernels per step, median duration " +
                  duration_text(kernels.median);
  finding.family = Family::host;
  finding.weight = weight_of(rules, idle);
  finding.confidence = kernels.median < kShortKernel ? Confidence::high : Confidence::medium;
  finding.effort = Effort::line;
  Evidence evidence = evidence_of(rules, late.ops,
                                  counted_noun(late.gaps, "gap") +
                                      " before a late launch; the costliest "
                                      "operators in them are shown");
  evidence.where = late.longest;
  finding.evidence.push_back(std::move(evidence));
  if (std::optional<Evidence> line = line_in_gaps(rules, late))
    finding.evidence.push_back(std::move(*line));
  finding.counter_evidence = recording_slows(rules);
  const bool optimizers = of_optimizer(rules, late.claims);
  if (optimizers) finding.cause = "optimizer";
  finding.fix = optimizers ? fix_of_optimizer() : fix_of(rules);
  finding.verify = "fathom gaps TRACE --sort -duration_ns";
  finding.claims = std::move(late.claims);
  finding.edits.launch_once = true;
  finding.assumption = "each step is launched as one graph; the kernels stay as they are";
  finding.pessimism = 0.4;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace host_bound_rule

Rule host_bound() {
  return {.id = "host-bound",
          .title = "Calls and launches that outlast their work",
          .doc = host_bound_rule::kDoc,
          .check = host_bound_rule::check};
}

}  // namespace fathom
