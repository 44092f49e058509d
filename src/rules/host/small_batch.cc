// small-batch: a step would take little longer with a larger batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/quantity_text.h"
#include "rules/common/batch_times.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace small_batch_rule {
namespace {

constexpr std::string_view kDoc =
    "Launching and calling cost the host as much for one sample as for many, and a kernel whose "
    "grid does not fill the device once takes about as long with more samples. Predicted are steps "
    "with 2, 4 and 8 times the batch, each as an interval, for one recording does not show how "
    "kernels grow. At most: everything that may depend on the batch grows with it (kernels, "
    "stretches of Python "
    "above 200 µs, idle time without a known cause), and nothing of that fits into time in which "
    "the device idled. At least: kernels stay until they fill the "
    "device once, GEMMs until they have 64 rows, and what grows runs while the device would "
    "have waited for the host; without a device, operators stay. Calls, optimizer steps and "
    "collectives of gradients do not depend on the batch, other collectives may; waiting for input "
    "grows with it, and so do loops with a round for each sample, which shapes show. Without "
    "shapes "
    "any block of operators that comes eight times in a row may be such a loop, but for layers. "
    "Where one step alone was recorded, each end is a tenth further out, as steps "
    "vary. Fires where twice the batch gives at least 1.3 times the samples per second even if the "
    "step takes "
    "the longest; warns from 1.5 times. Fires with low confidence from 1.1 times, where a step in "
    "the middle of the interval gives 1.3 times. Silent where there are no GEMMs or "
    "convolutions, or "
    "where waiting for input, or for memory from the driver, takes a tenth of the step: that is to "
    "be changed first; abstains where half of the time is spent "
    "on what is done only once, and where loops in Python with a round for each sample, or that "
    "may "
    "have one, take a tenth of the step and leave too little to gain. The gain is more samples per "
    "second, not a shorter step: nothing is claimed. docs/diagnosis.md says how often the interval "
    "held. Sources: "
    "Nsight Compute's rules about small grids and waves; NVIDIA's Deep Learning Performance Guide "
    "(batch size); the former TensorBoard plugin (utilisation below 50 %: larger batch).";

constexpr double kLeastGain = 1.3;
constexpr double kWarnGain = 1.5;
/// What even the longest step gives where only one in the middle gives kLeastGain; an interval that
/// reaches further down says nothing.
constexpr double kLeastUnsureGain = 1.1;
constexpr double kMostWaiting = 10.0;
constexpr double kMostOnce = 0.5;
constexpr double kMostLooped = 10.0;
/// Smaller shares of the step, in percent, are not worth a word.
constexpr double kLeastLooped = 1.0;
/// A tenth: passes of one program whose host is waited for differ by as much.
constexpr std::int64_t kSpread = 10;
constexpr std::int64_t kFewestProducts = 3;
constexpr auto kFactors = std::to_array<std::int64_t>({2, 4, 8});

bool multiplies(std::string_view name) {
  for (const std::string_view word : {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                                      "aten::linear", "convolution", "aten::_scaled_dot_product"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

/// GEMMs and convolutions per step: a model is a batch's work, a benchmark of one is not.
std::int64_t products(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet names(trace, multiplies);
  std::int64_t count = 0;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    bool product = op.valid() && names.contains(trace.slices.name[op.row()]);
    if (trace.kind(work) == SliceKind::kernel) {
      const KernelClass kind = rules.context.timelines().traits_of(trace, work).kernel_class;
      product =
          kind == KernelClass::gemm || kind == KernelClass::conv || kind == KernelClass::attention;
    }
    count += product ? 1 : 0;
  });
  return count / step_count(rules);
}

/// How many times the samples per second.
double gain(std::int64_t factor, Duration now, Duration then) {
  return static_cast<double>(factor) * static_cast<double>(to_ns(now)) /
         static_cast<double>(std::max<std::int64_t>(to_ns(then), 1));
}

std::string times_text(double gain) {
  const std::int64_t tenths = std::llround(10 * gain);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

Duration per(const RuleContext& rules, Duration whole) { return whole / step_count(rules); }

/// With so many times the batch. One pass alone does not show how much passes vary: then each end
/// is further out.
BatchTimes::Range range_of(const RuleContext& rules, const BatchTimes& times, std::int64_t factor,
                           bool loops_grow = false) {
  BatchTimes::Range range = times.with(factor, loops_grow);
  if (rules.steps.size() > 1) return range;
  range.low -= range.low / kSpread;
  range.high += range.high / kSpread;
  return range;
}

/// "4 times the batch: a step of 5.1 ms to 6.3 ms, 3.2 to 4.0 times the samples per second".
std::string prediction(const RuleContext& rules, const BatchTimes& times, std::int64_t factor) {
  const BatchTimes::Range range = range_of(rules, times, factor);
  return count_text(factor) + " times the batch: a step of " +
         duration_text(per(rules, range.low)) + " to " + duration_text(per(rules, range.high)) +
         ", " + times_text(gain(factor, times.now(), range.high)) + " to " +
         times_text(gain(factor, times.now(), range.low)) + " times the samples per second";
}

Fix fix_of(bool training) {
  if (training) {
    return {.text =
                "Use a larger batch while memory allows. Caveats: fewer updates per epoch; scale "
                "the learning rate with the batch (linearly for SGD, by the square root for Adam) "
                "with a warm-up, and check what the model reaches. Where memory is the limit: "
                "bf16, activation checkpointing. Accumulating gradients keeps the small kernels, "
                "and saves only optimizer steps and collectives; where batches are accumulated "
                "now, take fewer and larger ones.",
            .before = "DataLoader(data, batch_size=n); SGD(model.parameters(), lr=r)",
            .after = "DataLoader(data, batch_size=2 * n); SGD(model.parameters(), lr=2 * r)"};
  }
  return {.text =
              "Answer several inputs at once: collect requests for a few milliseconds, or use the "
              "server's dynamic batching. Caveat: each answer comes later by the longer step and "
              "the collecting.",
          .before = "for x in requests: model(x)",
          .after = "model(torch.stack(requests))"};
}

/// What is known of loops that grow with the batch, or "".
std::string loops_text(const RuleContext& rules, const BatchTimes& times) {
  const bool some = rules.percent(times.looped()) >= kLeastLooped;
  const std::string time = per_step(rules, times.looped());
  if (times.loops().known)
    return some ? "loops in Python with a round for each sample take " + time + ", and grow" : "";
  const std::string unknown =
      "shapes were not recorded: whether loops in Python grow with the batch is not known";
  return some ? unknown + "; blocks of operators that repeat take " + time : unknown;
}

Finding make(const RuleContext& rules, const BatchTimes& times) {
  const BatchTimes::Range twice = range_of(rules, times, 2);
  const double least = gain(2, times.now(), twice.high);
  const bool sure = least >= kLeastGain;
  Finding finding;
  finding.title =
      std::string(sure ? "A larger batch costs little" : "A larger batch may cost little") +
      ": twice the batch, " + times_text(least) + " to " +
      times_text(gain(2, times.now(), twice.low)) + " times the samples per second";
  finding.family =
      rules.device >= 0 && 2 * times.unfilled() >= times.now() ? Family::latency : Family::host;
  finding.weight = least >= kWarnGain ? Weight::warning : Weight::note;
  finding.confidence = sure ? Confidence::medium : Confidence::low;
  finding.effort = Effort::flag;
  std::vector<SliceId> small;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    const double filled = filled_part(rules, activity);
    if (filled < 1.0) small.push_back(activity);
  });
  finding.evidence.push_back(evidence_of(
      rules, small,
      "of " + duration_text(per(rules, times.now())) + " per step, " +
          duration_text(per(rules, times.full())) +
          (rules.device >= 0 ? " are kernels that fill the device, " +
                                   duration_text(per(rules, times.unfilled())) +
                                   " kernels that do not fill it once"
                             : " are what operators compute beyond the cost of calling them")));
  for (const std::int64_t factor : kFactors) {
    finding.evidence.push_back({.text = prediction(rules, times, factor)});
  }
  if (std::string loops = loops_text(rules, times); !loops.empty())
    finding.evidence.push_back({.text = std::move(loops)});
  finding.counter_evidence =
      "Recording costs the host time that a larger batch would share, too: without the recorder "
      "the gain is smaller.";
  finding.fix = fix_of(is_training(rules));
  finding.verify = "fathom steps TRACE";
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"most kernels were not recorded"};
  if (rules.device < 0 && only_calls(rules)) return Abstention{"no operators were recorded"};
  if (products(rules) < kFewestProducts) return std::vector<Finding>{};
  const BatchTimes times(rules);
  const Duration once = rules.window() - times.now();
  if (static_cast<double>(to_ns(once)) > kMostOnce * static_cast<double>(to_ns(rules.window()))) {
    return Abstention{"most of the time is spent on what is done only once: record later steps"};
  }
  const Duration waiting = times.waiting_for_input() + times.waiting_for_memory();
  if (rules.percent(waiting) >= kMostWaiting) return std::vector<Finding>{};
  // Loops that may grow are taken to: without shapes nothing is advised that shapes speak against.
  const BatchTimes::Range twice = range_of(rules, times, 2, true);
  const Duration middle = twice.low + (twice.high - twice.low) / 2;
  if (gain(2, times.now(), middle) < kLeastGain ||
      gain(2, times.now(), twice.high) < kLeastUnsureGain) {
    if (rules.percent(times.looped()) < kMostLooped) return std::vector<Finding>{};
    return Abstention{"loops in Python take " + per_step(rules, times.looped()) +
                      (times.loops().known
                           ? ": they have a round for each sample, and grow with the batch"
                           : ": without shapes it is not known whether they grow with the batch")};
  }
  return std::vector<Finding>{make(rules, times)};
}

}  // namespace
}  // namespace small_batch_rule

Rule small_batch() {
  return {.id = "small-batch",
          .title = "A batch that is too small for the device",
          .doc = small_batch_rule::kDoc,
          .check = small_batch_rule::check};
}

}  // namespace fathom
