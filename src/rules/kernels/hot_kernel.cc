// hot-kernel: an operator that takes long and is far from its roof.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/kernels/triton_names.h"
#include "analysis/roofline/op_formulas.h"
#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/costliest_names.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace hot_kernel_rule {
namespace {

constexpr std::string_view kDoc =
    "The roofline gives the least time that an operator of known shapes can take on the "
    "device: its floating-point operations at the peak for their type, or its bytes at "
    "the memory bandwidth, whichever is longer. Fires for operators that take at least 5 "
    "% of the step and reach less than 60 % of that; calls that take 20 times as long as most do "
    "not "
    "count for the 5 %. One that no formula prices is named from 25 % "
    "on, without a saving. Without a device there are no roofs: operators that gather rows or add "
    "them up by indices are named together from 25 % on, and so is one that orders or chooses "
    "elements (sort, topk, unique) by itself, calls of less than 20 us left out; any other that no "
    "formula prices (a loss, a recurrent layer) from 50 % on. Source: Williams "
    "et al., Roofline "
    "(2009); Nsight Compute's threshold of 60 % for latency-bound kernels.";

constexpr double kLeastPercent = 5.0;
constexpr double kFarPercent = 60.0;
/// What well-tuned kernels reach of their roof.
constexpr double kReachable = 0.7;
constexpr std::size_t kMostFindings = 3;
constexpr std::size_t kFewestCalls = 3;
constexpr std::int64_t kStalled = 20;
constexpr double kLeastPercentWithoutRoof = 25.0;
/// Without a device, of an operator that neither orders nor chooses.
constexpr double kMostOfTheStep = 50.0;
/// What a shorter call takes is calling it.
constexpr Duration kLeastCall = duration_ns(20'000);

/// The activities of each row of the roofline, for the rows that matter.
std::vector<Blamed> blame(const RuleContext& rules, const std::vector<std::uint32_t>& rows) {
  std::vector<Blamed> blamed(rows.size());
  const Roofline& roofline = rules.roofline;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const RooflineRow* const row = roofline.row_of(activity);
    if (row == nullptr) return;
    const auto at = std::ranges::find(rows, static_cast<std::uint32_t>(row - roofline.rows.data()));
    if (at != rows.end()) {
      blamed[static_cast<std::size_t>(at - rows.begin())].add(rules, activity, op);
    }
  });
  return blamed;
}

/// Rows that are far from their roof, the largest headroom first.
std::vector<std::uint32_t> far_rows(const RuleContext& rules) {
  const std::vector<RooflineRow>& all = rules.roofline.rows;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    // What crosses the link is for the rules of copies.
    if (all[i].bound != Bound::unknown && !all[i].over_link && all[i].roof_percent < kFarPercent &&
        rules.percent(all[i].device_time) >= kLeastPercent) {
      rows.push_back(i);
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](std::uint32_t row) { return all[row].headroom; });
  if (rows.size() > kMostFindings) rows.resize(kMostFindings);
  return rows;
}

/// What its calls take in counted steps, without those of which a few take 20 times as long as most
/// of that name: something held the device up then, and no other kernel takes that away.
Duration usual_time(const RuleContext& rules, const Blamed& blamed) {
  const auto& slices = rules.trace().slices;
  std::map<StringId, std::vector<Duration>> by_name;
  for (const SliceId activity : blamed.activities)
    by_name[slices.name[activity.row()]].push_back(slices.duration[activity.row()]);
  Duration time = blamed.time;
  for (auto& [name, durations] : by_name) {
    if (durations.size() < kFewestCalls) continue;
    std::ranges::sort(durations);
    const Duration longest = kStalled * durations[durations.size() / 2];
    for (const Duration each : durations)
      if (each > longest) time -= each;
  }
  return time;
}

std::string counter_evidence(const RooflineRow& row) {
  if (row.intensity() * row.peak_bytes >= row.peak_flops) {
    return "Its roof is the maker's peak. Large matrix multiplications seldom reach more than two "
           "thirds of it; small ones cannot fill the device.";
  }
  if (row.in_l2) {
    return "Its working set fits into the device's last cache, whose speed is its roof here: what "
           "is not in the cache yet is slower.";
  }
  return "Small shapes cannot fill the device; then use a larger batch.";
}

/// Of the calls of a row, those that launched what counts: one at the least, which may have
/// launched more that does not.
std::size_t counted_calls(const RooflineRow& row, const Blamed& blamed) {
  if (row.activities == 0) return row.calls;
  const double share =
      static_cast<double>(blamed.activities.size()) / static_cast<double>(row.activities);
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(static_cast<double>(row.calls) * share)));
}

/// Autotuning tries several implementations of GEMMs; what moves memory is fused, if it is not.
Fix fix_of(const RooflineRow& row, bool generated) {
  if (row.cost && row.cost->matrix) {
    return {.text =
                "Give it more work at once (a larger batch), another layout or type, or another "
                "implementation: torch.compile(mode=\"max-autotune\") tries several.",
            .before = "",
            .after = "model = torch.compile(model, mode=\"max-autotune\")"};
  }
  if (generated) {
    return {.text =
                "torch.compile made this kernel, and has fused what it could. "
                "mode=\"max-autotune\" tries other shapes of it; where it stays slow, a kernel "
                "written for this loss, softmax or normalisation reads its operands fewer times.",
            .before = "",
            .after = "model = torch.compile(model, mode=\"max-autotune\")"};
  }
  return {.text =
              "Give it more work at once (a larger batch), operands that lie densely in memory, or "
              "let it be fused with its neighbours: torch.compile does that where it can.",
          .before = "",
          .after = ""};
}

Finding describe(const RuleContext& rules, const RooflineRow& row, const Blamed& blamed) {
  const Trace& trace = rules.trace();
  const std::string name(trace.text(row.name));
  Finding finding;
  const Signature signature = trace.signatures[row.signature.row()];
  const std::string shapes = flat_shapes(trace.text(signature.shapes));
  // Not the number of the signature, which another reading of the trace may change.
  finding.key = name + " " + shapes;
  if (signature.types.valid()) finding.key += " " + std::string(trace.text(signature.types));
  finding.title = name + " reaches " + percent_text(row.roof_percent) +
                  " of its roof: " + per_step(rules, blamed.time);
  finding.family = Family::latency;
  finding.weight = rules.percent(blamed.time) >= 20 ? Weight::critical : Weight::warning;
  finding.confidence = Confidence::low;
  finding.effort = Effort::refactoring;
  finding.evidence.push_back(evidence_of(rules, blamed,
                                         counted_noun(counted_calls(row, blamed), "call") + " on " +
                                             shapes + ": " + real_text(row.flops_per_s() / 1e12) +
                                             " TFLOP/s and " + real_text(row.bytes_per_s() / 1e9) +
                                             " GB/s, intensity " + real_text(row.intensity()) +
                                             " FLOP/byte"));
  finding.counter_evidence = counter_evidence(row);
  finding.fix = fix_of(row, is_inductor_name(name));
  finding.verify = "fathom roofline TRACE --filter 'name=" + name + "'";
  const double reached = std::max(row.roof_percent / 100.0, 1e-3);
  const double saved = std::max(0.0, 1.0 - reached / kReachable);
  claim_blamed(rules, blamed, saved, finding);
  finding.assumption = "it reaches 70 % of its roof";
  finding.pessimism = 0.1;
  return finding;
}

/// Operators whose time depends on where their indices point, or on what the data is.
bool depends_on_data(std::string_view op) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"index", "gather", "scatter", "embedding", "select", "::take", "::put_", "masked", "nonzero",
       "unique", "sort", "topk", "bincount", "histc", "grid_sampl", "roi_", "::nms",
       "searchsorted"});
  return std::ranges::any_of(kWords,
                             [op](std::string_view word) { return op.find(word) != op.npos; });
}

/// Does it put elements in order, choose some of them or count them?
bool orders_or_chooses(std::string_view op) {
  constexpr auto kBegins = std::to_array<std::string_view>(
      {"aten::sort", "aten::argsort", "aten::msort", "aten::topk", "aten::kthvalue", "aten::median",
       "aten::unique", "aten::_unique", "aten::nonzero", "aten::bincount", "aten::histc",
       "aten::searchsorted"});
  return std::ranges::any_of(kBegins,
                             [op](std::string_view begin) { return op.starts_with(begin); });
}

/// Does it gather or add up elements whose places are data?
bool goes_by_index(std::string_view op) {
  return op == "aten::index" || op.starts_with("aten::index_") ||
         op.starts_with("aten::_index_put") || op.starts_with("aten::gather") ||
         op.starts_with("aten::scatter") || op.starts_with("aten::take");
}

/// Operators of ATen that no formula prices, by name; with the time of all their shapes. On the
/// main thread, too, without a device, where what moves memory is for other rules.
std::map<StringId, Blamed> unpriced(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const bool host = rules.device < 0;
  const NameSet names(trace, [host](std::string_view name) {
    if (host && orders_or_chooses(name)) return true;
    if (host && (goes_by_index(name) || is_product(name) || name.find("conv") != name.npos))
      return false;
    return name.starts_with("aten::") && !op_formula(name);
  });
  std::map<StringId, Blamed> found;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    if (host ? rules.self_times[op.row()] < kLeastCall : trace.kind(work) != SliceKind::kernel)
      return;
    const StringId name = trace.slices.name[op.row()];
    if (names.contains(name)) found[name].add(rules, work, op);
  });
  return found;
}

/// An operator that takes much of the step, and whose roof is not known.
std::optional<Finding> without_roof(const RuleContext& rules) {
  const std::map<StringId, Blamed> found = unpriced(rules);
  const auto most =
      std::ranges::max_element(found, {}, [](const auto& each) { return each.second.time; });
  if (most == found.end()) return {};
  const Blamed& blamed = most->second;
  const std::string name(rules.trace().text(most->first));
  const bool any = rules.device < 0 && !orders_or_chooses(name);
  if (rules.percent(blamed.time) < (any ? kMostOfTheStep : kLeastPercentWithoutRoof)) return {};
  Finding finding;
  finding.key = name;
  finding.title = name + " alone takes " + per_step(rules, blamed.time);
  finding.about_percent = rules.percent(blamed.time);
  finding.family = Family::latency;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  const bool by_data = depends_on_data(name);
  finding.evidence.push_back(evidence_of(
      rules, blamed,
      counted_noun(blamed.activities.size(), rules.device < 0 ? "call" : "kernel") +
          (by_data ? "; how long it must take at least depends on the data, and is not known"
                   : "; how long it must take at least is not known")));
  if (rules.device < 0) {
    finding.counter_evidence = "How long it must take is not known: no saving is predicted.";
    finding.fix.text =
        any ? "Only less of it makes the step faster: a smaller or shorter input, fewer calls, or "
              "another operator or library that computes the same."
            : "Call it less often, or on fewer elements: sort or choose once what is used several "
              "times, "
              "and take the least or largest few by torch.topk where no order of all is needed.";
    finding.verify = "fathom ops TRACE --sort -host_self_ns";
    return finding;
  }
  finding.counter_evidence = "It may be as fast as the device allows: no saving is predicted.";
  finding.fix.text =
      by_data ? "Call it less often, on fewer elements, or with indices that lie next to one "
                "another; profile its kernel with a counter of the memory's bandwidth to see what "
                "is left."
              : "Call it less often, or on less data; profile its kernel with counters (ncu, "
                "rocprof-compute) to see whether computing or memory limits it.";
  finding.verify = "fathom ops TRACE --sort -device_self_ns";
  return finding;
}

/// Without a device: rows that are gathered and added up by indices for much of the step.
std::vector<Finding> by_index(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet names(trace, goes_by_index);
  if (!names.any()) return {};
  Blamed all;
  std::map<StringId, Blamed> each;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    const StringId name = trace.slices.name[op.row()];
    if (!names.contains(name) || rules.self_times[op.row()] < kLeastCall) return;
    all.add(rules, work, op);
    each[name].add(rules, work, op);
  });
  if (rules.percent(all.time) < kLeastPercentWithoutRoof) return {};
  Finding finding;
  finding.key = "by-index";
  finding.title = "Gathering and adding up by indices takes " + per_step(rules, all.time);
  finding.about_percent = rules.percent(all.time);
  finding.family = Family::memory_bandwidth;
  finding.weight = Weight::warning;
  finding.confidence = Confidence::medium;
  finding.effort = Effort::refactoring;
  std::vector<std::pair<Duration, StringId>> times;
  times.reserve(each.size());
  for (const auto& [name, blamed] : each) times.emplace_back(blamed.time, name);
  finding.evidence.push_back(
      evidence_of(rules, all,
                  counted_noun(all.activities.size(), "call") + " in all; most of it in " +
                      costliest_names(rules, std::move(times)) + " per step"));
  finding.counter_evidence =
      "How long it must take at least depends on where the indices point: no saving is predicted.";
  finding.fix = {
      .text =
          "Where gathered rows are only added up again (messages of a graph), one multiplication "
          "with a sparse matrix does both, in the backward pass, too; else gather once what is "
          "used "
          "several times. Caveat: sums in another order differ in their last digits.",
      .before = "y = torch.zeros(n, d).index_add(0, target, x[source])",
      .after =
          "edges = torch.stack([target, source])  # once, with the next line\n"
          "graph = torch.sparse_coo_tensor(edges, torch.ones(len(source)), (n, n)).coalesce()\n"
          "y = torch.sparse.mm(graph, x)"};
  finding.verify = "fathom ops TRACE --filter 'name~index|scatter|gather'";
  return {std::move(finding)};
}

Outcome check(const RuleContext& rules) {
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  if (rules.device < 0) {
    std::vector<Finding> findings = by_index(rules);
    if (auto finding = without_roof(rules)) findings.push_back(std::move(*finding));
    return findings;
  }
  if (rules.roofline.device == nullptr) {
    return Abstention{"the peaks of the device are not known: " + rules.roofline.note};
  }
  if (!has_shapes(rules.trace()))
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  const std::vector<std::uint32_t> rows = far_rows(rules);
  const std::vector<Blamed> blamed = blame(rules, rows);
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The roofline is of all devices.
    if (rules.percent(usual_time(rules, blamed[i])) >= kLeastPercent) {
      findings.push_back(describe(rules, rules.roofline.rows[rows[i]], blamed[i]));
    }
  }
  if (auto finding = without_roof(rules)) findings.push_back(std::move(*finding));
  return findings;
}

}  // namespace
}  // namespace hot_kernel_rule

Rule hot_kernel() {
  return {.id = "hot-kernel",
          .title = "Operators far from what the device could do",
          .doc = hot_kernel_rule::kDoc,
          .check = hot_kernel_rule::check};
}

}  // namespace fathom
