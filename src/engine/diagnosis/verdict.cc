// Chooses the verdict from the recoverable time of each family.
#include "engine/diagnosis/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/machine/thread_time.h"
#include "analysis/roofline/op_cost.h"
#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "engine/diagnosis/function_notes.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/only_bars.h"
#include "rules/common/recorded.h"
#include "rules/common/stalls.h"

namespace fathom {
namespace {

/// A family that loses less than this share of the step is no verdict.
constexpr double kLeastPercent = 10.0;
/// Against a busy device a loss must weigh this much to be the verdict.
constexpr double kLossPerCompute = 0.25;
/// Where more than this share of the step has no cause in the trace, no known loss weighs more, and
/// the device does not compute for most of it, no verdict is drawn from the rest.
constexpr double kMostUnexplained = 40.0;
/// Nor is one drawn from the quarter of the step that is left where operators stand still for more.
constexpr double kMostStalled = 75.0;
/// A device that computes for this share of the step is bound by its kernels.
constexpr double kComputePercent = 60.0;
/// A roofline that covers less of the time of computing does not say what limits it.
constexpr double kLeastCovered = 50.0;
/// Idle and exposed time from this share on is no balance.
constexpr double kMostBalanced = 40.0;
/// A device that is busy for less was hardly recorded, where the host was not.
constexpr double kHardlyBusy = 10.0;
/// Less than this share of the step is next to nothing.
constexpr double kLeastBusy = 1.0;
/// Without a roofline, kernels of GEMMs that are shorter are not taken to be near a roof.
constexpr Duration kShortProduct = duration_ns(100'000);
/// A kernel below this percentage of its roof is bound by neither roof. Lower than the roofline's
/// own mark of latency (kLatencyPercent): large products reach a third of the peaks that makers
/// promise, and are bound by arithmetic all the same.
constexpr double kFarPercent = 20.0;
/// Causes whose shares of the step differ by no more points, or that are no further from a limit,
/// are both named.
constexpr double kNear = 5.0;
/// Less than this share of the step is not worth naming.
constexpr double kLeastShown = 0.5;
/// From this share of its time on, the verdict names that the thread had no processor.
constexpr double kMuchPreempted = 30.0;
/// From this share of the time of all steps on, the verdict names what much longer steps cost.
constexpr double kMuchBeside = 30.0;
/// Tensors of a call that together are larger fit into no cache of a core (Intel's and AMD's have
/// at most 4 MiB): they come from memory, or from a cache that all cores share.
constexpr double kLargeBytes = 16.0 * 1024 * 1024;
/// An operator with less arithmetic for each byte is bound by memory: a core does several
/// operations in the time in which one byte arrives.
constexpr double kFewFlopsPerByte = 1.0;
/// No formula prices these; they do no arithmetic.
constexpr auto kOnlyMoving =
    std::to_array<std::string_view>({"aten::fill_", "aten::zero_", "aten::flip", "aten::roll"});
/// Operators that move tensors, with an operation or two for each element: where shapes were not
/// recorded, how long they take shows how much they move. Sorted.
constexpr auto kHardlyComputing = std::to_array<std::string_view>(
    {"aten::add",      "aten::add_",  "aten::addcdiv",   "aten::addcdiv_", "aten::addcmul",
     "aten::addcmul_", "aten::cat",   "aten::clamp_min", "aten::clone",    "aten::copy_",
     "aten::div",      "aten::div_",  "aten::fill_",     "aten::flip",     "aten::lerp",
     "aten::lerp_",    "aten::mul",   "aten::mul_",      "aten::neg",      "aten::neg_",
     "aten::relu",     "aten::relu_", "aten::roll",      "aten::sqrt",     "aten::sub",
     "aten::sub_",     "aten::zero_"});
static_assert(std::ranges::is_sorted(kHardlyComputing));
/// In this time a core moves kLargeBytes at 4 GB/s, which is slow.
constexpr Duration kLongMove = duration_ns(4'000'000);
/// Fewer of an operator's calls than one of so many are long because the thread had no processor.
constexpr std::int64_t kLongCallsOf = 10;
/// Where each of so many steps has a long one, there is another reason.
constexpr std::size_t kFewestSteps = 3;

Duration& of(FamilyTimes& times, Family family) { return times[static_cast<std::size_t>(family)]; }
Duration of(const FamilyTimes& times, Family family) {
  return times[static_cast<std::size_t>(family)];
}

/// The family that a bucket of a device belongs to, if it can be blamed on one. Compute is divided
/// by kernels.
std::optional<Family> family_of(Bucket bucket) {
  switch (bucket) {
    case Bucket::input:
      return Family::input;
    case Bucket::allocation:
      return Family::allocation;
    case Bucket::sync:
      return Family::sync;
    case Bucket::warm_up:
      return Family::capture;
    case Bucket::dispatch:
    case Bucket::python:
    case Bucket::launch_latency:
      return Family::host;
    case Bucket::communication:
      return Family::communication;
    case Bucket::memcpy:
    case Bucket::memset:
      return Family::transfer;
    default:
      return std::nullopt;
  }
}

/// Does the roofline say how near a kernel is to its roofs?
bool is_covered(const RuleContext& rules, SliceId kernel) {
  const RooflineRow* const row = rules.roofline.row_of(kernel);
  return row != nullptr && row->bound != Bound::unknown;
}

/// May a kernel do so much arithmetic that this limits it? Others only move what they work on.
bool may_compute(const RuleContext& rules, SliceId kernel) {
  switch (rules.context.timelines().traits_of(rules.trace(), kernel).kernel_class) {
    case KernelClass::gemm:
    case KernelClass::conv:
    case KernelClass::attention:
    case KernelClass::other:
      return true;
    default:
      return false;
  }
}

/// What limits a kernel: by the roofline of its operator, else by what kernels of its class are
/// usually limited by; products of a small batch are short, and far from the compute roof.
Family family_of_kernel(const RuleContext& rules, SliceId kernel) {
  if (const RooflineRow* const row = rules.roofline.row_of(kernel)) {
    if (row->bound != Bound::unknown) {
      if (row->roof_percent < kFarPercent) return Family::latency;
      const bool arithmetic = row->intensity() * row->peak_bytes >= row->peak_flops;
      return arithmetic ? Family::compute : Family::memory_bandwidth;
    }
  }
  if (!may_compute(rules, kernel)) return Family::memory_bandwidth;
  return rules.trace().slices.duration[kernel.row()] < kShortProduct ? Family::latency
                                                                     : Family::compute;
}

/// What the roofline shows of computing, and how long kernels ran of which it shows nothing.
struct Roofs {
  FamilyTimes shown{};
  Duration covered{};
  Duration products{};  ///< Not covered, and limited by anything.
  Duration moving{};    ///< Not covered, and limited by memory or by nothing.

  [[nodiscard]] double covered_percent() const {
    const Duration all = covered + products + moving;
    if (all == Duration{}) return 0;
    return 100.0 * static_cast<double>(to_ns(covered)) / static_cast<double>(to_ns(all));
  }
  [[nodiscard]] bool known() const { return covered_percent() >= kLeastCovered; }

  /// Could most of the time be limited so, were what is not covered as far from or as near to its
  /// roofs as it can be?
  [[nodiscard]] bool may_be(Family family) const {
    const Duration computing = of(shown, Family::compute);
    const Duration memory = of(shown, Family::memory_bandwidth);
    const Duration latency = of(shown, Family::latency);
    switch (family) {
      case Family::compute:
        return computing + products >= std::max({memory, latency, (memory + latency + moving) / 2});
      case Family::memory_bandwidth:
        return memory + products + moving >= std::max(computing, latency);
      default:
        return latency + products + moving >= std::max(computing, memory);
    }
  }
};

Roofs roofs_of(const RuleContext& rules) {
  const Timelines& timelines = rules.context.timelines();
  Roofs roofs;
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    if (timelines.busy_kind(rules.trace(), activity) != Busy::compute) return;
    const Duration time = rules.accounting.credited[activity.row()];
    if (is_covered(rules, activity)) {
      roofs.covered += time;
      of(roofs.shown, family_of_kernel(rules, activity)) += time;
    } else {
      (may_compute(rules, activity) ? roofs.products : roofs.moving) += time;
    }
  });
  return roofs;
}

/// Divides computing by what limits the kernels that started in the counted steps.
void add_computing(const RuleContext& rules, Duration computing, FamilyTimes& times) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  FamilyTimes credited{};
  Duration all{};
  CountedTime counted(rules);
  for (const SliceId activity : timelines.find(rules.device)->activities) {
    if (!counted.holds(trace.slices.start[activity.row()])) continue;
    if (timelines.busy_kind(trace, activity) != Busy::compute) continue;
    const Duration time = rules.accounting.credited[activity.row()];
    of(credited, family_of_kernel(rules, activity)) += time;
    all += time;
  }
  const auto most = static_cast<Family>(std::ranges::max_element(credited) - credited.begin());
  Duration rest = computing;
  for (std::size_t i = 0; i < kFamilies && all > Duration{}; ++i) {
    const double share = static_cast<double>(to_ns(credited[i])) / static_cast<double>(to_ns(all));
    const Duration part =
        duration_ns(static_cast<std::int64_t>(share * static_cast<double>(to_ns(computing))));
    times[i] += part;
    rest -= part;
  }
  of(times, all > Duration{} ? most : Family::compute) += rest;
}

void add_device(const RuleContext& rules, SpentTime& spent) {
  Account sum;
  for (const Step* const step : rules.steps)
    sum += account(rules.context, rules.accounting, rules.device, step->window);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (const auto family = family_of(static_cast<Bucket>(i)))
      of(spent.families, *family) += sum.time[i];
  }
  spent.unexplained = sum[Bucket::device_wait] + sum[Bucket::host_unknown];
  add_computing(rules, sum[Bucket::compute], spent.families);
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  for (const IdlePiece& piece : device.pieces) {
    const bool after = device.gaps[piece.gap].opener == Opener::sync_call;
    if (after && family_of(piece.cause) == Family::host)
      spent.catching_up += rules.counted(piece.interval);
  }
}

/// Which operators of a processor only move large tensors, each kind of call asked once.
class MovedTensors {
 public:
  explicit MovedTensors(const RuleContext& rules) : trace_(rules.trace()) {
    if (has_shapes(trace_)) return;
    for (const HostPiece& piece : rules.accounting.host) {
      if (!hardly_computes(piece)) continue;
      Calls& calls = calls_[trace_.slices.name[piece.op.row()]];
      ++calls.all;
      if (piece.interval.length() < kLongMove) continue;
      ++calls.long_ones;
      calls.steps.insert(rules.step_at(piece.interval.begin));
    }
    for (auto& each : calls_) {
      Calls& calls = each.second;
      calls.in_each_step = rules.steps.size() >= kFewestSteps &&
                           std::ranges::all_of(rules.steps, [&calls](const Step* step) {
                             return calls.steps.contains(step);
                           });
    }
  }

  /// Of a piece in an operator, or in none. Where no shapes were recorded, by name and duration.
  [[nodiscard]] bool move(const HostPiece& piece) {
    const SliceId op = piece.op;
    const auto calls = op.valid() ? calls_.find(trace_.slices.name[op.row()]) : calls_.end();
    if (calls != calls_.end()) {
      return piece.interval.length() >= kLongMove &&
             (calls->second.in_each_step ||
              calls->second.long_ones * kLongCallsOf >= calls->second.all);
    }
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr) return false;
    const auto key = std::pair(trace_.slices.name[op.row()], signature);
    const auto [at, added] = known_.try_emplace(key, false);
    if (added) at->second = moves(op);
    return at->second;
  }

 private:
  /// How many of an operator's calls there are, and how many of them are long.
  struct Calls {
    std::int64_t all = 0;
    std::int64_t long_ones = 0;
    std::set<const Step*> steps;  ///< That have a long one.
    bool in_each_step = false;    ///< What takes processors away does not come so regularly.
  };

  [[nodiscard]] bool hardly_computes(const HostPiece& piece) const {
    return piece.op.valid() && trace_.kind(piece.op) == SliceKind::cpu_op &&
           std::ranges::binary_search(kHardlyComputing, trace_.name(piece.op));
  }

  [[nodiscard]] bool moves(SliceId op) const {
    const OpFormula formula = op_formula(trace_.name(op));
    const std::optional<OpArguments> arguments = arguments_of(trace_, op);
    if (!arguments) return false;
    if (std::ranges::find(kOnlyMoving, trace_.name(op)) != kOnlyMoving.end())
      return bytes_of(arguments->tensors()) >= kLargeBytes;
    if (!formula) return false;
    const std::optional<OpCost> cost = formula(*arguments);
    return cost && cost->flops_known && !cost->matrix && cost->bytes >= kLargeBytes &&
           cost->flops < kFewFlopsPerByte * cost->bytes;
  }

  const Trace& trace_;
  std::map<std::pair<StringId, const Signature*>, bool> known_;
  std::map<StringId, Calls> calls_;  ///< Of those that hardly compute, where shapes are unknown.
};

struct Loss {
  Family family;
  VerdictId verdict;
  std::string_view device;  // What the device does meanwhile.
  std::string_view thread;  // What the main thread does, in a trace without a device.
};

constexpr Loss kLosses[] = {
    {Family::capture, VerdictId::warmup_in_window,
     "idles while the host does what it does only once", "does what it does only once"},
    {Family::input, VerdictId::input_bound, "waits for input", "loads its input or waits for it"},
    {Family::host, VerdictId::host_bound, "waits for the host to launch work",
     "runs Python outside of operators"},
    {Family::sync, VerdictId::sync_bound, "is idle in synchronising calls",
     "is blocked in joins, queues or synchronisation"},
    {Family::transfer, VerdictId::transfer_bound, "only copies", "copies"},
    {Family::communication, VerdictId::communication_bound, "only communicates", "communicates"},
    {Family::straggler, VerdictId::straggler, "waits for a late rank", "waits for a late rank"},
    {Family::allocation, VerdictId::allocation_bound, "waits for memory to be allocated",
     "allocates memory"},
};

struct Work {
  Family family;
  VerdictId verdict;
  std::string_view manner;
};

constexpr Work kComputes[] = {
    {Family::compute, VerdictId::compute_bound, "near the compute roof"},
    {Family::memory_bandwidth, VerdictId::memory_bandwidth_bound, "bound by memory bandwidth"},
    {Family::latency, VerdictId::latency_bound, "far from both roofs"},
};

template <typename Named>
const Named& largest(std::span<const Named> families, const FamilyTimes& times) {
  return *std::ranges::max_element(families, {},
                                   [&](const Named& named) { return of(times, named.family); });
}

Duration busy_of(const FamilyTimes& times) {
  Duration busy = of(times, Family::communication) + of(times, Family::transfer);
  for (const Work& work : kComputes) busy += of(times, work.family);
  return busy;
}

std::string share(const RuleContext& rules, Duration time) {
  return percent_text(rules.percent(time));
}

/// What a family loses: after a wait the host has to catch up, which is the wait's fault, and what
/// other threads and programs take from it is not Python's.
Duration lost_to(const SpentTime& spent, Family family) {
  const Duration time = of(spent.families, family);
  if (family == Family::host) return time - spent.catching_up - spent.without_processor;
  return family == Family::sync ? time + spent.catching_up : time;
}

/// Whose time is judged.
std::string who(const RuleContext& rules) {
  if (rules.device >= 0) return "The device ";
  return rules.context.steps().requests ? "The thread that answers " : "The main thread ";
}

/// Where the thread that steps was seen waiting, if it waited for most of this share of the step,
/// by its processor time.
std::optional<std::string> mostly_waiting(const RuleContext& rules, double percent) {
  if (rules.device >= 0) return {};
  const std::optional<ThreadTime> time = thread_time(rules.trace());
  if (!time || time->wall <= Duration{} || !time->preempted_known || time->places.empty())
    return {};
  if (200 * python_parts(*time, percent / 100).waiting <= percent) return {};
  return time->places.front().where;
}

/// "The device waits for input for 33 % of the step.", in the numbers of the accounting.
std::string sentence(const RuleContext& rules, const Loss& loss, const SpentTime& spent) {
  const Duration lost = of(spent.families, loss.family);
  const std::string time = " for " + share(rules, lost) + " of the step";
  if (loss.family == Family::host) {
    if (const auto where = mostly_waiting(rules, rules.percent(lost)))
      return who(rules) + "runs no operator" + time + ": mostly it waits, most often at " + *where +
             ".";
  }
  std::string text = who(rules) + std::string(rules.device >= 0 ? loss.device : loss.thread) + time;
  if (rules.percent(spent.catching_up) >= kLeastShown) {
    if (loss.family == Family::host)
      text += ", " + share(rules, spent.catching_up) + " after synchronising calls";
    if (loss.family == Family::sync)
      text += ", and for " + share(rules, spent.catching_up) +
              " after them until the host has launched again";
  }
  if (loss.verdict != VerdictId::warmup_in_window) return text + ".";
  return "Warm-up in the window: " + text + ". Record later steps.";
}

/// Operators of the main thread have no roofline: what is known is which of them move large
/// tensors and hardly compute.
std::string sentence(const RuleContext& rules, const Work& work, const FamilyTimes& times,
                     Duration computing, const Roofs& roofs) {
  const std::string time = share(rules, computing) + " of the step";
  if (rules.device < 0) {
    const std::string operators = who(rules) + "runs operators for " + time;
    if (work.family != Family::memory_bandwidth) return operators + ".";
    return operators + ", for " + share(rules, of(times, work.family)) +
           " such that only move large tensors through memory" +
           (has_shapes(rules.trace()) ? "." : ", by their names and durations.");
  }
  if (!roofs.known()) {
    return "The device computes for " + time +
           ". How near its kernels are to a roof is not known: " + "the roofline covers " +
           percent_text(roofs.covered_percent()) + " of their time.";
  }
  return "The device computes for " + time + ", mostly " + std::string(work.manner) + ".";
}

/// The first finding of a rule with that hint, or nullptr.
const Finding* found(const std::vector<RankedFinding>& findings, VerdictHint hint) {
  const auto at = std::ranges::find_if(findings, [hint](const RankedFinding& ranked) {
    const Rule* const rule = find_rule(ranked.finding.rule);
    return rule != nullptr && rule->hint == hint;
  });
  return at == findings.end() ? nullptr : &at->finding;
}

/// What the usual steps do not show: much longer ones that take a large part of the time. "" where
/// there are none.
std::string beside_the_step(const std::vector<RankedFinding>& findings) {
  const auto outliers = std::ranges::find_if(findings, [](const RankedFinding& ranked) {
    return ranked.finding.rule == "step-outliers" && ranked.finding.key == "outliers";
  });
  if (outliers == findings.end() || outliers->step <= Duration{}) return {};
  const double percent = 100.0 * static_cast<double>(to_ns(outliers->observed)) /
                         static_cast<double>(to_ns(outliers->step));
  if (percent < kMuchBeside) return {};
  return " Not in that: " + outliers->finding.title + ", which cost " + percent_text(percent) +
         " of the time of all steps.";
}

/// What shows that the machine was too busy for the thread that steps. "" where it was not, and
/// where that is not known.
std::string beside_the_thread(const RuleContext& rules) {
  if (rules.device >= 0) return {};
  const std::optional<ThreadTime> time = thread_time(rules.trace());
  if (!time || time->wall <= Duration{}) return {};
  const double percent =
      100.0 * static_cast<double>(to_ns(time->preempted)) / static_cast<double>(to_ns(time->wall));
  if (percent < kMuchPreempted) return {};
  return " For " + percent_text(percent) +
         " of its time the thread was ready, but had no processor: other threads or programs did.";
}

/// That no finding names a cause of the verdict's time; for Python beside operators, what it is
/// made of. "" where one does.
std::string without_finding(const RuleContext& rules, Family family,
                            const std::vector<RankedFinding>& findings) {
  const bool named = std::ranges::any_of(findings, [family](const RankedFinding& ranked) {
    return ranked.finding.family == family && ranked.upper_bound > Duration{};
  });
  if (named) return {};
  if (rules.device >= 0 || family != Family::host) return " No finding names a cause.";
  std::vector<Duration> pieces;
  CountedTime counted(rules);
  for (const HostPiece& piece : rules.accounting.host) {
    const bool python = piece.bucket == HostBucket::python;
    if (python && counted.holds(piece.interval.begin)) pieces.push_back(piece.interval.length());
  }
  if (pieces.empty()) return " No finding names a cause.";
  const std::string stretches = count_text(static_cast<std::int64_t>(pieces.size())) +
                                (pieces.size() == 1 ? " stretch" : " stretches");
  const Duration longest = std::ranges::max(pieces);
  return " No finding names a cause: the time is " + stretches + " in " +
         counted_noun(rules.steps.size(), "step") + ", the longest " + duration_text(longest) +
         ", the median " + duration_text(median_of(std::move(pieces))) + ".";
}

/// Does no counted step hold work of the device, whose launches mostly are not in the trace?
bool launches_unrecorded(const RuleContext& rules) {
  const Links& links = rules.context.links();
  if (rules.device < 0 || 2 * links.without_launch <= links.activities.size()) return false;
  bool any = false;
  for_each_activity(rules, [&any](SliceId, SliceId) { any = true; });
  return !any;
}

/// Is all that is known of the host that it was in no operator, where none was recorded?
bool only_annotated(const RuleContext& rules) {
  const auto known = [](const HostPiece& piece) { return piece.bucket != HostBucket::python; };
  return rules.device < 0 && only_annotations(rules) &&
         std::ranges::none_of(rules.accounting.host, known);
}

/// Is a program all but unrecorded: nothing of the host but calls, which do not show what most of
/// the time was, and a device that does little?
bool hardly_recorded(const RuleContext& rules, Duration busy) {
  return only_calls(rules) && rules.percent(busy) < kHardlyBusy && !mostly_once(rules);
}

/// What verdicts are chosen from, in percent of the step.
struct Shares {
  const RuleContext& rules;
  const SpentTime& spent;
  const Roofs& roofs;
  double computing = 0;
  double unexplained = 0;

  [[nodiscard]] double of_loss(const Loss& loss) const {
    return rules.percent(lost_to(spent, loss.family));
  }
  [[nodiscard]] double of_work(const Work& work) const {
    return rules.percent(of(spent.families, work.family));
  }
  /// Without a device there is no roof to be near to.
  [[nodiscard]] bool roofs_known() const { return rules.device < 0 || roofs.known(); }
};

bool near(double a, double b) { return std::abs(a - b) <= kNear; }

/// Losses that come near to the verdict, which has `share` of the step.
void add_near_losses(const Shares& shares, double share, std::vector<VerdictId>& also) {
  for (const Loss& loss : kLosses) {
    const double lost = shares.of_loss(loss);
    if (lost >= kLeastPercent && near(lost, share)) also.push_back(loss.verdict);
  }
}

/// Kinds of computing that come near to the one that takes most; where the roofline shows too
/// little, all that may.
void add_near_work(const Shares& shares, std::vector<VerdictId>& also) {
  if (!shares.roofs_known()) {
    for (const Work& work : kComputes)
      if (shares.roofs.may_be(work.family)) also.push_back(work.verdict);
    return;
  }
  const double most = shares.of_work(largest<Work>(kComputes, shares.spent.families));
  for (const Work& work : kComputes) {
    const double share = shares.of_work(work);
    if (share >= kLeastPercent && near(share, most)) also.push_back(work.verdict);
  }
}

bool is_work(VerdictId id) {
  return std::ranges::find(kComputes, id, &Work::verdict) != std::end(kComputes);
}

bool is_loss(VerdictId id) {
  return id == VerdictId::io_bound ||
         std::ranges::find(kLosses, id, &Loss::verdict) != std::end(kLosses);
}

/// What else the verdict would be were shares up to kNear points different, or were the roofs
/// known, in the order of VerdictId.
std::vector<VerdictId> near_verdicts(VerdictId id, const Shares& shares, const Loss& loss) {
  const double lost = shares.of_loss(loss);
  const double computing = shares.computing;
  const bool weighs = lost >= kLeastPercent && lost >= kLossPerCompute * computing;
  // Without a device Python need not outweigh what operators take, only a part of it.
  const bool calls = shares.rules.device < 0 && loss.family == Family::host;
  const bool limit = calls && near(lost, kLossPerCompute * computing);
  std::vector<VerdictId> also;
  if (is_loss(id)) {
    add_near_losses(shares, lost, also);
    const bool nearly = shares.rules.device >= 0 && computing >= kComputePercent - kNear;
    if (nearly || limit || near(computing, lost)) add_near_work(shares, also);
  } else if (is_work(id)) {
    add_near_work(shares, also);
    const bool nearly = weighs && computing < kComputePercent + kNear;
    if (limit && lost >= kLeastPercent) also.push_back(loss.verdict);
    if (nearly || (lost >= kLeastPercent && near(lost, computing)))
      add_near_losses(shares, lost, also);
  } else if (id == VerdictId::balanced) {
    if (lost >= kLeastPercent - kNear && lost + kNear >= kLossPerCompute * computing)
      also.push_back(loss.verdict);
    if (computing >= kComputePercent - kNear) add_near_work(shares, also);
  } else if (id == VerdictId::cannot_tell) {
    const double gap = shares.unexplained;
    if (weighs && (near(gap, lost) || gap <= kMostUnexplained + kNear))
      also.push_back(loss.verdict);
  }
  const VerdictId same = id == VerdictId::io_bound ? VerdictId::input_bound : id;
  std::erase_if(also, [=](VerdictId each) { return each == id || each == same; });
  std::ranges::sort(also);
  return also;
}

/// Why nothing can be said, or "".
std::string doubt(const RuleContext& rules, const FamilyTimes& spent) {
  if (rules.steps.empty() || rules.window() == Duration{}) {
    const Trace& trace = rules.trace();
    if (only_functions(trace))
      return "a profile of functions says how long each of them took, not when";
    if (!trace.stack_samples.empty() && trace.slices.size() == 0)
      return "samples of stacks say where a program was found, not what its steps take";
    return "the trace holds no time to account for";
  }
  if (device_unrecorded(rules)) {
    return "work was launched onto a device, but what the device did was not recorded";
  }
  if (launches_unrecorded(rules)) {
    return "the device did nothing in these steps, but what launched its work was not recorded";
  }
  if (only_annotated(rules)) {
    return "only annotations were recorded, nothing that runs inside them";
  }
  if (only_a_rest(rules)) {
    return "a single step is all that was recorded, and no operator ran in it: record steps that "
           "work, and keep what an earlier recording wrote (on_trace_ready is called again for "
           "each cycle of a schedule: repeat=1)";
  }
  const Duration busy = rules.device < 0 ? Duration{} : busy_of(spent);
  if (hardly_recorded(rules, busy)) {
    if (has_frames(rules)) {
      return "no operator ran and no work of a device was recorded, only Python and calls of the "
             "runtime: record around the work in question";
    }
    const std::string ran = rules.percent(busy) < kLeastBusy
                                ? "next to nothing ran on a device"
                                : "a device ran only for " + share(rules, busy) + " of the step";
    return "calls of the runtime are all that was recorded of the host, and " + ran +
           ": record operators and the device, "
           "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], around the work in question";
  }
  return {};
}

std::string stands_still(const RuleContext& rules, const Stalls& stalls) {
  return "the main thread stands still for " + share(rules, stalls.time) + " of the step, in " +
         counted_noun(stalls.calls, "call") +
         " of operators that take less than a twentieth of that in most steps. Other programs, or "
         "a limit of processors, keep it off its processor: record with nothing else on the "
         "machine.";
}

/// The main thread's input before operators outside of it take 1 % of the counted steps: where the
/// recording begins so, no device can work meanwhile on much that it shows.
Duration leading_input(const RuleContext& rules) {
  Duration input{};
  Duration others{};
  for (const HostPiece& piece : rules.accounting.host) {
    const Duration time = rules.counted(piece.interval);
    const bool idle = piece.bucket == HostBucket::python || piece.bucket == HostBucket::warm_up;
    if (piece.bucket == HostBucket::input) {
      input += time;
    } else if (!idle) {
      others += time;
      if (rules.percent(others) > kLeastBusy) break;
    }
  }
  return input;
}

/// Is a program bound by its input although its device was not recorded?
std::optional<Verdict> input_without_device(const RuleContext& rules) {
  if (rules.device >= 0 || rules.steps.empty() || rules.window() == Duration{}) return {};
  const Duration input = leading_input(rules);
  if (!device_unrecorded(rules) || rules.percent(input) < kComputePercent) return {};
  Verdict verdict;
  verdict.id = VerdictId::input_bound;
  verdict.sentence = "The main thread loads its input or waits for it for " + share(rules, input) +
                     " of the step before any other operator runs. What the device did then was "
                     "not recorded.";
  return verdict;
}

/// Is most of what the host did done only once, in a program whose device was not recorded?
std::optional<Verdict> warm_up_without_device(const RuleContext& rules) {
  if (rules.device >= 0 || rules.steps.empty() || rules.window() == Duration{}) return {};
  const Duration once = warm_up_time(rules);
  if (!device_unrecorded(rules) || rules.percent(once) < kComputePercent) return {};
  Verdict verdict;
  verdict.id = VerdictId::warmup_in_window;
  verdict.sentence = "Warm-up in the window: The main thread does what it does only once for " +
                     share(rules, once) +
                     " of the step. What the device did was not recorded. Record later steps.";
  return verdict;
}

}  // namespace

SpentTime spent_by_family(const RuleContext& rules) {
  SpentTime spent;
  if (rules.device >= 0) {
    add_device(rules, spent);
    return spent;
  }
  const bool bars = only_bars(rules);
  MovedTensors tensors(rules);
  for (const HostPiece& piece : rules.accounting.host) {
    const bool unknown = bars && piece.bucket == HostBucket::python;
    Family family = family_of(piece.bucket);
    if (family == Family::compute && tensors.move(piece)) family = Family::memory_bandwidth;
    Duration& sum = unknown ? spent.unexplained : of(spent.families, family);
    sum += rules.counted(piece.interval);
  }
  if (const std::optional<ThreadTime> time = thread_time(rules.trace());
      time && time->wall > Duration{} && rules.window() > Duration{}) {
    const auto window = static_cast<double>(to_ns(rules.window()));
    const double share = static_cast<double>(to_ns(of(spent.families, Family::host))) / window;
    spent.without_processor =
        duration_ns(static_cast<std::int64_t>(window * python_parts(*time, share).preempted));
  }
  return spent;
}

std::string verdict_names(const Verdict& verdict) {
  std::string names(to_string(verdict.id));
  for (std::size_t i = 0; i < verdict.also.size(); ++i) {
    names += i + 1 == verdict.also.size() ? " or " : ", ";
    names += to_string(verdict.also[i]);
  }
  return names;
}

Verdict judge(const RuleContext& rules, const SpentTime& spent,
              const std::vector<RankedFinding>& findings) {
  if (std::optional<Verdict> input = input_without_device(rules)) return std::move(*input);
  if (std::optional<Verdict> once = warm_up_without_device(rules)) return std::move(*once);
  Verdict verdict;
  if (std::string reason = doubt(rules, spent.families); !reason.empty()) {
    verdict.sentence = "Cannot tell: " + reason + ".";
    return verdict;
  }
  const FamilyTimes& times = spent.families;
  const auto steps = static_cast<std::int64_t>(rules.steps.size());
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (times[i] == Duration{}) continue;
    verdict.families.push_back({.family = static_cast<Family>(i),
                                .per_step = times[i] / steps,
                                .percent = rules.percent(times[i])});
  }
  std::ranges::stable_sort(verdict.families, std::ranges::greater(), &FamilyTime::percent);

  Duration computing{};
  for (const Work& work : kComputes) computing += of(times, work.family);
  const Loss& loss = *std::ranges::max_element(
      kLosses, {}, [&](const Loss& each) { return lost_to(spent, each.family); });
  const Duration lost = lost_to(spent, loss.family);
  const double lost_percent = rules.percent(lost);
  const double compute_percent = rules.percent(computing);
  const auto memory = std::ranges::find_if(findings, [](const RankedFinding& ranked) {
    return ranked.finding.family == Family::memory_capacity &&
           ranked.finding.weight == Weight::critical;
  });
  const Roofs roofs = rules.device >= 0 ? roofs_of(rules) : Roofs{};
  const bool computes = compute_percent >= kComputePercent;
  // Without a device what calling operators costs is in their time.
  const bool calls = rules.device < 0 && loss.family == Family::host;
  const bool outweighs = computes && !calls;
  const double unexplained = rules.percent(spent.unexplained);
  const Stalls stalls = find_stalls(rules);
  const double stalled = rules.percent(stalls.time);
  if (unexplained > kMostUnexplained && unexplained > lost_percent && !computes) {
    verdict.sentence = "Cannot tell: " + percent_text(unexplained) +
                       " of the step is idle time without a cause in the trace.";
  } else if (stalled > kMostStalled && stalled > lost_percent) {
    // Which family that time belongs to is not known.
    verdict.families.clear();
    verdict.sentence = "Cannot tell: " + stands_still(rules, stalls);
    return verdict;
  } else if (!outweighs && lost_percent >= kLeastPercent &&
             lost_percent >= kLossPerCompute * compute_percent) {
    verdict.id = loss.verdict;
    verdict.sentence = sentence(rules, loss, spent);
    if (loss.family == Family::input && found(findings, VerdictHint::storage) != nullptr) {
      verdict.id = VerdictId::io_bound;
      verdict.sentence += " The loader waits for storage while processors are idle.";
    }
  } else if (memory != findings.end()) {
    verdict.id = VerdictId::memory_capacity_bound;
    verdict.sentence = memory->finding.title;
  } else if (const Finding* const slowed = found(findings, VerdictHint::hardware);
             slowed != nullptr && slowed->weight != Weight::note) {
    verdict.id = VerdictId::physically_limited;
    verdict.sentence = slowed->title + ".";
  } else if (computes) {
    const Work& kind = largest<Work>(kComputes, times);
    verdict.id = kind.verdict;
    verdict.sentence = sentence(rules, kind, times, computing, roofs);
  } else if (100.0 - compute_percent > kMostBalanced && unexplained > lost_percent) {
    verdict.sentence = "Cannot tell: the device computes for " + percent_text(compute_percent) +
                       " of the step, and for " + percent_text(unexplained) +
                       " it idles without a cause in the trace.";
  } else {
    verdict.id = VerdictId::balanced;
    verdict.sentence = "Nothing alone takes much of the step: the largest loss is " +
                       share(rules, of(times, loss.family)) + ".";
  }
  if (is_loss(verdict.id) && loss.family != Family::capture)
    verdict.sentence += without_finding(rules, loss.family, findings);
  verdict.sentence += beside_the_step(findings) + beside_the_thread(rules);
  const Shares shares{.rules = rules,
                      .spent = spent,
                      .roofs = roofs,
                      .computing = compute_percent,
                      .unexplained = unexplained};
  verdict.also = near_verdicts(verdict.id, shares, loss);
  const bool guessed = is_work(verdict.id) && !shares.roofs_known();
  verdict.points_decide =
      std::ranges::any_of(verdict.also, [=](VerdictId each) { return !guessed || !is_work(each); });
  if (const Device* const unused = unused_device(rules)) {
    const std::string name = unused->name.empty() ? "a GPU" : unused->name;
    verdict.sentence = "On the CPU: nothing ran on " + name + ". " + verdict.sentence;
  }
  if (const Device* const untraced = untraced_device(rules)) {
    const std::string name = untraced->name.empty() ? "the GPU" : untraced->name;
    verdict.sentence = "What " + name + " did was not recorded. " + verdict.sentence;
  }
  return verdict;
}

}  // namespace fathom
