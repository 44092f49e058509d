// profiling-mistakes: the recording is of something else than what is meant, or lacks what is
// needed.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/op_arguments.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/batch_norms.h"
#include "rules/common/device_allocations.h"
#include "rules/common/evidence.h"
#include "rules/common/host_steps.h"
#include "rules/common/names.h"
#include "rules/common/only_bars.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/unexplained_idle.h"
#include "rules/rule.h"

namespace fathom {
namespace profiling_mistakes_rule {
namespace {

constexpr std::string_view kDoc =
    "Mistakes that make a recording answer another question. Training in eval mode: a backward "
    "pass or optimizer runs while every batch norm and dropout was called with training=False. "
    "Inference in train mode: no backward pass, but dropout or batch norm called with "
    "training=True; where arguments were not recorded, dropout that draws a mask, or batch norms "
    "of which each counts its batch right before. Few steps: the recording has no steps, or only "
    "one counts, so nothing shows what is usual. On the CPU: operators ran on the processor, and "
    "nothing on the GPU that the recording lists (where it was not traced, allocations that are "
    "all of the processor's memory, or oneDNN's operators that take 25 % of the step, show it), or "
    "it was busy for less than 1 % while matrix multiplications and convolutions on the processor "
    "took 25 % of the step. Device missing: operators that only devices have, or allocations "
    "mostly of a device's memory, and nothing else of a device. Unexplained: the device idles for "
    "40 % of the step or more, and the recording does not show why: it waits before the first "
    "recorded activity, for work launched earlier; a graph or other work that was launched long "
    "ago waits for what was not recorded; what launched the next activity is missing; or nothing "
    "follows. Many steps: at least 50, with over a million events, which add cost but no "
    "information. Not recorded: kernels although there are launches; shapes; stacks, where the "
    "host takes 20 % of the step; memory, where a device trains. Modes are read from the recorded "
    "arguments (record_shapes=True). Source: PyTorch's profiler documentation (schedule, options).";

constexpr std::size_t kManySteps = 50;
constexpr double kHostMatters = 20.0;
/// A device that is busy for less, in percent of the step, is hardly used;
constexpr double kHardlyUsed = 1.0;
/// and from this share on the model is on the processor.
constexpr double kProductsMatter = 25.0;
/// The verdict's own limit.
constexpr double kUnexplainedMatters = 40.0;
constexpr std::size_t kManyEvents = 1'000'000;
/// Without a device only Apple's GPUs show it (`device_operator`).
constexpr std::string_view kLinearBackward = "aten::linear_backward";
/// So many batch norms that all count their batches are in train mode; one after an addition that
/// the model makes is no sign.
constexpr std::size_t kFewestCounting = 2;

Finding about(std::string key, std::string title, Weight weight, std::string evidence) {
  Finding finding;
  finding.key = std::move(key);
  finding.title = std::move(title);
  finding.family = Family::capture;
  finding.weight = weight;
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(
      {.text = std::move(evidence), .slices = {}, .where = {}, .location = {}});
  finding.verify = "fathom health TRACE";
  return finding;
}

/// Calls of operators that behave differently in training, by how they were called.
struct Modes {
  std::vector<SliceId> training;
  std::vector<SliceId> evaluating;
};

/// "True", "False" or "" of an argument, each signature looked at once.
class Flags {
 public:
  explicit Flags(const Trace& trace) : trace_(trace), known_(trace.signatures.size(), kUnknown) {}
  /// 1: training, 0: evaluating, -1: not recorded.
  int of(SliceId op, std::size_t argument) {
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr || !signature->concrete.valid() || !signature->types.valid())
      return -1;
    int& known = known_[static_cast<std::size_t>(signature - trace_.signatures.data())];
    if (known == kUnknown) known = read(*signature, argument);
    return known;
  }

 private:
  static constexpr int kUnknown = -2;
  [[nodiscard]] int read(const Signature& signature, std::size_t argument) const {
    const std::string_view shapes =
        signature.shapes.valid() ? trace_.text(signature.shapes) : std::string_view();
    const OpArguments arguments(shapes, trace_.text(signature.types),
                                trace_.text(signature.concrete));
    const std::string_view text = arguments.text(argument);
    return text == "True" ? 1 : text == "False" ? 0 : -1;
  }
  const Trace& trace_;
  std::vector<int> known_;
};

/// Without recorded arguments: does a batch norm follow the addition that counts its batches, as it
/// does in train mode alone? Only numbers of the buffer are added: where shapes were recorded, they
/// show it; else all batch norms have to follow an addition.
bool follows_count(const RuleContext& rules, const Nesting::Thread& thread, std::size_t at) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  const SliceId norm = thread.slices[at];
  while (at > 0) {
    const SliceId before = thread.slices[--at];
    if (before == parent[norm.row()]) return false;
    if (parent[before.row()] != parent[norm.row()]) continue;
    return counts_batches(trace, before);
  }
  return false;
}

/// Does dropout draw a mask? It hands its input on in eval mode.
bool draws(const RuleContext& rules, const Nesting::Thread& thread, std::size_t at) {
  const Trace& trace = rules.trace();
  const Time end = trace.slices.end(thread.slices[at]);
  for (std::size_t i = at + 1; i < thread.slices.size(); ++i) {
    const SliceId inner = thread.slices[i];
    if (trace.slices.start[inner.row()] >= end) return false;
    const std::string_view name = trace.name(inner);
    if (name == "aten::native_dropout" || name == "aten::bernoulli_") return true;
  }
  return false;
}

/// Calls in train mode, by what they do, where no arguments show it; empty where one of the batch
/// norms does not count.
std::vector<SliceId> training_by_deeds(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet norms(trace, is_batch_norm);
  const NameSet dropouts(trace, [](std::string_view name) { return name == "aten::dropout"; });
  std::vector<SliceId> found;
  std::vector<SliceId> counting;
  bool all = true;
  if (!norms.any() && !dropouts.any()) return found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (std::size_t i = 0; i < thread.slices.size(); ++i) {
      const SliceId op = thread.slices[i];
      const StringId name = trace.slices.name[op.row()];
      if (!counts_on_host(rules, trace.slices.start[op.row()])) continue;
      if (dropouts.contains(name) && draws(rules, thread, i)) found.push_back(op);
      if (!norms.contains(name)) continue;
      if (follows_count(rules, thread, i)) {
        counting.push_back(op);
      } else {
        all = false;
      }
    }
  }
  if (all && counting.size() >= kFewestCounting)
    found.insert(found.end(), counting.begin(), counting.end());
  return found;
}

Modes modes_of(const RuleContext& rules) {
  constexpr std::size_t kNormArgument = 5;
  constexpr std::size_t kDropoutArgument = 2;
  const Trace& trace = rules.trace();
  const NameSet norms(trace, [](std::string_view name) { return name == "aten::batch_norm"; });
  const NameSet dropouts(trace, [](std::string_view name) { return name == "aten::dropout"; });
  Modes modes;
  if (!norms.any() && !dropouts.any()) return modes;
  Flags norm_flags(trace);
  Flags dropout_flags(trace);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const StringId name = trace.slices.name[row];
    const bool norm = norms.contains(name);
    if (!norm && !dropouts.contains(name)) continue;
    if (!counts_on_host(rules, trace.slices.start[row])) continue;
    const SliceId op(row);
    const int flag =
        norm ? norm_flags.of(op, kNormArgument) : dropout_flags.of(op, kDropoutArgument);
    if (flag == 1) modes.training.push_back(op);
    if (flag == 0) modes.evaluating.push_back(op);
  }
  return modes;
}

/// What these calls do to results in train mode.
std::string effects_of_training(const Trace& trace, std::span<const SliceId> calls) {
  const auto drops = [&trace](SliceId op) { return trace.name(op) == "aten::dropout"; };
  std::string text;
  if (!std::ranges::all_of(calls, drops)) {
    text =
        "Batch norm then takes the mean and variance of each batch in place of the learned ones, "
        "and changes those: results depend on what else is in the batch, and on calls before.";
  }
  if (std::ranges::any_of(calls, drops)) {
    if (!text.empty()) text += " ";
    text += "Dropout costs time and changes the result.";
  }
  return text;
}

void check_mode(const RuleContext& rules, std::vector<Finding>& findings) {
  const Modes modes = modes_of(rules);
  if (is_training(rules) && modes.training.empty() && !modes.evaluating.empty()) {
    Finding finding =
        about("eval-mode", "Training runs with the model in eval mode", Weight::warning, {});
    finding.evidence = {evidence_of(rules, modes.evaluating,
                                    counted_noun(modes.evaluating.size(), "call") +
                                        " of batch norm or dropout with training=False beside a "
                                        "backward pass, none with True")};
    finding.counter_evidence = "Fine-tuning with frozen statistics does this on purpose.";
    finding.fix = {.text =
                       "Put the model into train mode before the loop, and back after each "
                       "evaluation. Other kernels run in eval mode, and other results come "
                       "out.",
                   .before = "model.eval()\ntrain(model)",
                   .after = "model.train()\ntrain(model)"};
    findings.push_back(std::move(finding));
  }
  if (is_training(rules)) return;
  const bool known = !modes.training.empty() || !modes.evaluating.empty();
  const std::vector<SliceId> calls = known ? modes.training : training_by_deeds(rules);
  if (!calls.empty()) {
    Finding finding = about("train-mode", "A forward pass alone runs with the model in train mode",
                            Weight::note, {});
    finding.evidence = {evidence_of(
        rules, calls,
        counted_noun(calls.size(), "call") +
            (known ? " of batch norm or dropout with training=True"
                   : " of batch norm that count their batch, or of dropout that draw a mask") +
            ", and no backward pass is recorded")};
    finding.counter_evidence =
        "The backward pass may lie outside of the recording, or train mode be wanted (samples of "
        "dropout, statistics that are renewed).";
    finding.fix = {.text = "For inference: eval mode, and no gradients. " +
                           effects_of_training(rules.trace(), calls),
                   .before = "out = model(x)",
                   .after = "model.eval()\nwith torch.inference_mode():\n    out = model(x)"};
    findings.push_back(std::move(finding));
  }
}

void check_steps(const RuleContext& rules, std::vector<Finding>& findings) {
  const Steps& steps = rules.context.steps();
  const std::size_t count = rules.steps.size();
  if (count == 1) {
    const bool none = steps.source == StepSource::whole_trace;
    Finding finding = about(
        "few-steps", none ? "The recording has no steps" : "Only one step counts", Weight::note,
        none ? "Everything from the first to the last event is taken for one step."
             : "Of " + counted_noun(steps.steps.size(), "step") +
                   " one counts: nothing shows whether it is usual.");
    finding.counter_evidence = "One pass may be just what is in question.";
    if (recorded_by_run(rules.trace())) {
      finding.fix = {
          .text = "Record several steps after a warm-up; --step-by says what a step is.",
          .before = "",
          .after = "fathom run --steps wait=2,warmup=2,active=5 -- " + command_of(rules.trace())};
    } else if (only_bars(rules)) {
      finding.fix.text = "Record several steps after a warm-up, and mark each.";
    } else {
      finding.fix = {.text = "Record several steps after a warm-up, and mark each.",
                     .before = "with profile() as prof: train_step(batch)",
                     .after =
                         "with profile(schedule=schedule(wait=2, warmup=2, active=5)) as prof:\n"
                         "    for batch in loader:\n        train_step(batch)\n"
                         "        prof.step()"};
    }
    findings.push_back(std::move(finding));
  }
  if (count >= kManySteps && rules.trace().slices.size() >= kManyEvents) {
    Finding finding =
        about("many-steps", count_text(static_cast<std::int64_t>(count)) + " steps are recorded",
              Weight::note,
              count_text(static_cast<std::int64_t>(rules.trace().slices.size())) + " events, " +
                  bytes_text(static_cast<std::int64_t>(rules.trace().bytes_read)));
    finding.counter_evidence = "Rare events need long recordings.";
    finding.fix = {
        .text =
            "Five to ten steps show the same; record more with fewer options where "
            "outliers are in question.",
        .before = "",
        .after = recorded_by_run(rules.trace())
                     ? "fathom run --steps wait=1,warmup=1,active=5 -- " + command_of(rules.trace())
                     : "schedule(wait=1, warmup=1, active=5)"};
    findings.push_back(std::move(finding));
  }
}

/// Does the time outside of operators matter, so that lines would show more?
bool host_matters(const RuleContext& rules) {
  Duration sum{};
  if (const DeviceAccounting* const device = rules.accounting.find(rules.device)) {
    for (const IdlePiece& piece : device->pieces) {
      const bool host = piece.cause == Bucket::python || piece.cause == Bucket::dispatch ||
                        piece.cause == Bucket::sync;
      if (host) sum += rules.counted(piece.interval);
    }
  }
  for (const HostPiece& piece : rules.accounting.host) {
    if (piece.bucket == HostBucket::python) sum += rules.counted(piece.interval);
  }
  return rules.percent(sum) >= kHostMatters;
}

/// What was not recorded and would show more about this program.
struct NotRecorded {
  std::string what;     // "shapes, memory"
  std::string options;  // Of torch.profiler.
};
NotRecorded not_recorded_of(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const bool stacks = has_frames(rules) || rules.sites.lines() != nullptr ||
                      std::ranges::any_of(trace.ops.stack, [](StringId id) { return id.valid(); });
  NotRecorded missing;
  const auto add = [&missing](std::string_view what, std::string_view option) {
    const std::string_view comma = missing.what.empty() ? "" : ", ";
    missing.what.append(comma).append(what);
    missing.options.append(comma).append(option);
  };
  if (!has_shapes(trace)) add("shapes", "record_shapes=True");
  if (!stacks && host_matters(rules)) add("Python stacks", "with_stack=True");
  if (trace.memory.time.empty() && rules.device >= 0 && is_training(rules))
    add("memory", "profile_memory=True");
  return missing;
}

/// Work went to a device, as its memory shows, and neither calls nor operators that only it has.
void check_only_memory(const RuleContext& rules, std::vector<Finding>& findings) {
  const std::size_t allocations = device_allocations(rules);
  if (allocations == 0) return;
  Finding finding =
      about("no-device", "Work ran on a device that was not recorded", Weight::warning,
            counted_noun(allocations, "recorded allocation") +
                " of a device's memory, and neither calls of a runtime nor kernels");
  finding.counter_evidence = "What the host took is recorded, and may be all that is in question.";
  const bool by_run = recorded_by_run(rules.trace());
  finding.fix = {.text =
                     "Record the device too: what operators take here is the time of calling "
                     "them.",
                 .before = by_run ? "" : "profile(activities=[ProfilerActivity.CPU])",
                 .after = by_run ? "fathom doctor"
                                 : "profile(activities=[ProfilerActivity.CPU, "
                                   "ProfilerActivity.CUDA])"};
  findings.push_back(std::move(finding));
}

/// Work went to a device, as its operators show, but not even calls of its runtime were recorded.
void check_device_missing(const RuleContext& rules, std::vector<Finding>& findings) {
  const SliceId op = device_operator(rules);
  if (!op.valid()) {
    check_only_memory(rules, findings);
    return;
  }
  const Trace& trace = rules.trace();
  const auto same =
      static_cast<std::size_t>(std::ranges::count(trace.slices.name, trace.slices.name[op.row()]));
  Finding finding =
      about("no-device", "Work ran on a device that was not recorded", Weight::warning,
            counted_noun(same, "call") + " of " + std::string(trace.name(op)) +
                ", which only exists on devices, and neither calls of a runtime nor "
                "kernels");
  finding.evidence.back().slices = {op};
  finding.counter_evidence = "What the host took is recorded, and may be all that is in question.";
  const bool by_run = recorded_by_run(trace);
  const bool apples =
      trace.name(op).find("mps") != std::string_view::npos || trace.name(op) == kLinearBackward;
  if (apples) {
    finding.fix = {.text =
                       "PyTorch's profiler records nothing of Apple's GPUs: torch.mps.profiler and "
                       "Instruments do. Times of the host are those of calling it.",
                   .before = "",
                   .after =
                       "torch.mps.profiler.start(); train_step(batch); "
                       "torch.mps.profiler.stop()"};
  } else {
    finding.fix = {.text =
                       "Record the device too. Exports of the former profiler (torch.autograd."
                       "profiler without use_kineto) have no kernels: record with torch.profiler.",
                   .before = by_run ? "" : "profile(activities=[ProfilerActivity.CPU])",
                   .after = by_run ? "fathom doctor"
                                   : "profile(activities=[ProfilerActivity.CPU, "
                                     "ProfilerActivity.CUDA])"};
  }
  findings.push_back(std::move(finding));
}

void check_recorded(const RuleContext& rules, std::vector<Finding>& findings) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  const bool operators = std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.kind == SliceKind::cpu_op && category.slices > 0;
  });
  const bool by_run = recorded_by_run(trace);
  if (links.launches_without_activity > 0 && device_unrecorded(rules)) {
    Finding finding = about("no-kernels", "Kernels were launched but not recorded", Weight::warning,
                            counted_noun(links.launches_without_activity, "launching call") +
                                " without any activity on a device");
    finding.counter_evidence =
        "What is launched just before the recording ends is lost unless the program waits for it.";
    finding.fix = {.text =
                       "Record the device too. Where it was enabled already, another profiler held "
                       "the device, or the library that traces it (CUPTI, roctracer) is missing or "
                       "not permitted: fathom doctor shows which.",
                   .before = by_run ? "" : "profile(activities=[ProfilerActivity.CPU])",
                   .after = by_run ? "fathom doctor"
                                   : "profile(activities=[ProfilerActivity.CPU, "
                                     "ProfilerActivity.CUDA])"};
    findings.push_back(std::move(finding));
  }
  if (links.launches_without_activity == 0 && device_unrecorded(rules))
    check_device_missing(rules, findings);
  const NotRecorded missing = not_recorded_of(rules);
  if (!operators || missing.what.empty()) return;
  Finding finding = about("not-recorded", "Not recorded: " + missing.what, Weight::note,
                          "Rules that need them abstain or cannot name a line.");
  finding.confidence = Confidence::high;
  finding.effort = Effort::flag;
  finding.counter_evidence = "Each option slows the host: stacks most.";
  finding.fix = {.text =
                     "Record once more with what the next question needs: shapes for the "
                     "roofline, stacks for lines, memory for the peak.",
                 .before = by_run ? command_of(trace) : "profile()",
                 .after = by_run ? recording_with(trace, missing.options)
                                 : "profile(" + missing.options + ")"};
  findings.push_back(std::move(finding));
}

void check_untraced(const Device& device, std::vector<Finding>& findings) {
  const std::string name = device.name.empty() ? "a GPU" : device.name;
  Finding finding = about(
      "device-not-traced",
      "Only the CPU beside a GPU (" + name +
          ") was recorded: whether the model runs on it is not known",
      Weight::warning,
      "The recording lists " + name + ", and holds operators, but not one call of its runtime.");
  finding.counter_evidence =
      "A program that uses no GPU looks the same, where only the CPU was asked for.";
  finding.fix = {.text =
                     "Record the device too. Where it then shows no kernel, put the model and each "
                     "batch onto it.",
                 .before = "profile(activities=[ProfilerActivity.CPU])",
                 .after = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"};
  findings.push_back(std::move(finding));
}

void check_device(const RuleContext& rules, std::vector<Finding>& findings) {
  if (const Device* const untraced = untraced_device(rules)) check_untraced(*untraced, findings);
  const Device* const device = unused_device(rules);
  if (device == nullptr) return;
  const std::string name = device->name.empty() ? "GPU" : device->name;
  Finding finding =
      about("on-cpu", "The model runs on the CPU beside a GPU (" + name + "): nothing ran on it",
            Weight::critical,
            "The recording lists " + name + ", and holds operators, but no kernel or copy" +
                (has_calls(rules.trace()) ? "" : "; " + on_processor(rules)) + ".");
  finding.counter_evidence = "A recording for comparison with the GPU looks the same.";
  finding.fix = {.text = "Put the model and each batch onto the device.",
                 .before = "y = model(x)",
                 .after = "model = model.to('cuda')\ny = model(x.to('cuda'))"};
  findings.push_back(std::move(finding));
}

/// What the host spends on matrix multiplications and convolutions that start nothing on a device.
Duration products_on_processor(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  std::vector<bool> launches(trace.slices.size());
  const Links& links = rules.context.links();
  for (const SliceId activity : links.activities) {
    for (SliceId at = links.launch[activity.row()]; at.valid() && !launches[at.row()];
         at = parent[at.row()])
      launches[at.row()] = true;
  }
  const NameSet products(trace, [](std::string_view name) {
    return is_product(name) || name.find("convolution") != name.npos ||
           name.find("scaled_dot_product") != name.npos;
  });
  Duration sum{};
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId op : thread.slices) {
      const std::size_t row = op.row();
      if (launches[row] || !rules.counts(trace.slices.start[row])) continue;
      const bool outermost =
          !parent[row].valid() || !enclosing(rules, parent[row], products).valid();
      if (products.contains(trace.slices.name[row]) && outermost)
        sum += rules.counted(interval_of(trace, op));
    }
  }
  return sum;
}

/// A device that does next to nothing while the model computes on the processor beside it.
void check_beside(const RuleContext& rules, std::vector<Finding>& findings) {
  const DeviceTimeline* const timeline = rules.context.timelines().find(rules.device);
  if (timeline == nullptr || device_unrecorded(rules)) return;
  Duration busy{};
  for (const Step* const step : rules.steps) busy += busy_time(*timeline, step->window).busy();
  if (rules.percent(busy) >= kHardlyUsed) return;
  const Duration products = products_on_processor(rules);
  if (rules.percent(products) < kProductsMatter) return;
  const Device* const device = device_of(rules);
  const std::string name = device == nullptr || device->name.empty() ? "GPU" : device->name;
  Finding finding = about(
      "on-cpu", "The model runs on the CPU beside a GPU (" + name + "), which does next to nothing",
      Weight::critical,
      name + " is busy for " + percent_text(rules.percent(busy)) +
          " of the step; matrix multiplications and convolutions that launch nothing take " +
          per_step(rules, products) + " of the processor");
  finding.counter_evidence = "A small part may be on the processor on purpose.";
  finding.fix = {.text = "Put the model and each batch onto the device.",
                 .before = "y = model(x)",
                 .after = "model = model.to(device)\ny = model(x.to(device))"};
  findings.push_back(std::move(finding));
}

/// Where the device idles without a cause, and how to record it.
struct Missing {
  std::string_view where;
  std::string_view likely;
  std::string_view fix;
};
const Missing& missing_about(Unexplained reason) {
  static constexpr std::array<Missing, kUnexplained> kMissing = {{
      {"before the first recorded activity, which was launched already",
       "work that was launched before the recording runs, and is not in it",
       "Begin to record when the device is idle (wait for it before, outside of what is timed), or "
       "some steps earlier."},
      {"after the last recorded activity",
       "the device's records end here: its buffers were lost, or the host went on alone",
       "Wait for the device before recording ends, and record whole steps."},
      {"before the launch of a graph takes effect",
       "the graph waits for work of other streams, processes or devices that is not in the "
       "recording: the host launched it in time",
       "Record every process that uses the device, and the nodes of graphs; fathom telemetry of a "
       "run shows who else was there."},
      {"before work that was launched earlier",
       "it waits for work of other streams, processes or devices that is not in the recording",
       "Record every process and rank that uses the device, and longer: what these wait for began "
       "before."},
      {"before work whose launch is not in the recording",
       "another thread or process launched it, or records of the host were lost",
       "Record the host, too (ProfilerActivity.CPU), in the process that launches, and fewer "
       "steps where buffers ran over."},
  }};
  return kMissing[static_cast<std::size_t>(reason)];
}

void check_explained(const RuleContext& rules, std::vector<Finding>& findings) {
  if (rules.device < 0 || device_unrecorded(rules)) return;
  const UnexplainedIdle idle = unexplained_idle(rules);
  if (rules.percent(idle.total()) < kUnexplainedMatters) return;
  const auto reason = static_cast<std::size_t>(idle.most());
  const Missing& missing = missing_about(idle.most());
  const Trace& trace = rules.trace();
  const SliceId next = idle.next[reason];
  Finding finding = about(
      "unexplained",
      "The device idles, and the recording does not show why: " + per_step(rules, idle.total()),
      Weight::warning,
      per_step(rules, idle.time[reason]) + " of it " + std::string(missing.where) +
          "; the longest stretch is " + duration_text(idle.longest[reason].length()) +
          (next.valid() ? ", before " + std::string(trace.name(next)) : std::string()) +
          ". Most likely " + std::string(missing.likely));
  finding.evidence.back().where = idle.longest[reason];
  if (next.valid()) finding.evidence.back().slices = {next};
  finding.confidence = Confidence::medium;
  finding.counter_evidence = "What is not in a recording can only be guessed from what is.";
  finding.fix = {.text = std::string(missing.fix), .before = "", .after = ""};
  finding.verify = "fathom gaps TRACE --sort -duration_ns";
  findings.push_back(std::move(finding));
}

Outcome check(const RuleContext& rules) {
  std::vector<Finding> findings;
  check_device(rules, findings);
  check_beside(rules, findings);
  check_explained(rules, findings);
  check_mode(rules, findings);
  check_steps(rules, findings);
  check_recorded(rules, findings);
  return findings;
}

}  // namespace
}  // namespace profiling_mistakes_rule

Rule profiling_mistakes() {
  return {.id = "profiling-mistakes",
          .title = "Mistakes in what was recorded",
          .doc = profiling_mistakes_rule::kDoc,
          .check = profiling_mistakes_rule::check,
          .every_step = true};
}

}  // namespace fathom
