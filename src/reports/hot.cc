// hot: where sampled threads were on a processor, by function or by line.
#include <optional>
#include <string>
#include <string_view>

#include "analysis/samples/hot_spots.h"
#include "base/quantity_text.h"
#include "reports/report.h"
#include "reports/sample_notes.h"
#include "store/sample_weights.h"

namespace fathom {
namespace hot_report {
namespace {

struct Sum {
  const Trace* trace = nullptr;
  Duration on_cpu{};  ///< Of all samples.
  bool times = true;  ///< Else weights are what another profiler counts.
  bool waits = true;  ///< Are they known?
};
/// A function, a line, or all threads without Python: those have no file.
struct Spot {
  HotSpot spot;
  bool outside = false;
};
using Spots = ReportRows<Spot, Sum>;

std::string_view function_of(const Spot& spot, const Sum& sum) {
  return spot.outside ? "(no Python)" : sum.trace->text(spot.spot.function);
}

/// Unset where weights are no times.
template <Duration HotSpot::*kTime>
std::optional<Duration> time_of(const Spot& spot, const Sum& sum) {
  return sum.times ? std::optional(spot.spot.*kTime) : std::nullopt;
}

std::uint64_t samples_of(const Spot& spot, const Sum& sum) {
  return sum.times ? spot.spot.samples : static_cast<std::uint64_t>(to_ns(spot.spot.self));
}

/// "train.py:12".
std::optional<std::string> location_of(const Spot& spot, const Sum& sum) {
  if (spot.outside) return {};
  std::string location(sum.trace->text(spot.spot.file));
  if (location.empty()) return {};
  if (spot.spot.line >= 0) location += ":" + std::to_string(spot.spot.line);
  return location;
}

constexpr Spots::Column kColumns[] = {
    {"function", ColumnKind::name, "",
     "Its name, with its class from Python 3.11 on; (no Python): threads without.",
     by<function_of>},
    {"location", ColumnKind::name, "",
     "File and line; of a function, its line with the most own time.", by<location_of>},
    {"self_ns", ColumnKind::duration_ns, "ns",
     "Time on a processor, by the scheduler, while it was the innermost function.",
     by<time_of<&HotSpot::self>>},
    {"self_percent", ColumnKind::percent, "percent",
     "Its own time on a processor, of that of all threads.",
     [](const Spot& spot, const Sum& sum) { return percent_of(spot.spot.self, sum.on_cpu); }},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Time on a processor while it was on the stack, with what it called.",
     by<time_of<&HotSpot::total>>},
    {"total_percent", ColumnKind::percent, "percent",
     "The same of the time on a processor of all threads.",
     [](const Spot& spot, const Sum& sum) { return percent_of(spot.spot.total, sum.on_cpu); }},
    {"blocked_ns", ColumnKind::duration_ns, "ns",
     "Time for which threads were blocked while it was the innermost function; over all threads.",
     [](const Spot& spot, const Sum& sum) {
       return sum.waits ? std::optional(spot.spot.blocked) : std::nullopt;
     }},
    {"samples", ColumnKind::count, "",
     "Samples in which it was the innermost function and its thread had run; of a file without "
     "times, its weights.",
     by<samples_of>},
};

constexpr std::string_view kGroupBy[] = {"function", "line"};

Result<Spots> compute(const Context& context) {
  const SpotBy by = context.options.group_by == "line" ? SpotBy::line : SpotBy::function;
  const HotSpots hot = hot_spots(context.trace, by);
  Spots spots{.shared = {.trace = &context.trace,
                         .on_cpu = hot.on_cpu,
                         .times = weight_unit(context.trace).empty(),
                         .waits = waits_are_known(context.trace)}};
  for (const HotSpot& spot : hot.spots) spots.rows.push_back({.spot = spot});
  if (hot.outside > Duration{})
    spots.rows.push_back({.spot = {.self = hot.outside, .total = hot.outside}, .outside = true});
  const auto samples =
      spots.shared.times ? static_cast<std::int64_t>(hot.samples) : to_ns(hot.on_cpu);
  const std::string error =
      "a share of p is known to about √(p(1−p)/" + std::to_string(samples) + ").";
  if (spots.shared.waits) {
    spots.notes.push_back("Times are the scheduler's, divided by " + std::to_string(samples) +
                          " samples: " + error);
  } else if (weight_unit(context.trace) == "samples") {
    spots.notes.push_back("With " + std::to_string(samples) + " samples, " + error);
  }
  note_weights(context.trace, spots.notes);
  note_unsampled(context.trace, spots.notes);
  return spots;
}

constexpr std::string_view kImportance[] = {"function", "self_ns",       "self_percent", "location",
                                            "total_ns", "total_percent", "blocked_ns"};

constexpr Need kNeeds[] = {{StoreTable::stack_samples}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "hot",
       .title = "Where the program computes, by function and line, from samples of its threads",
       .doc = "One row per Python function over all threads and processes, or per line with "
              "--group-by line. Own times sum to the processor time of the sampled threads, which "
              "is the scheduler's; total times overlap, for a caller's holds its callees'. Samples "
              "are taken from outside and say where, not how much. A thread that was met running "
              "gets what it ran since it was last met so. fathom run records them where PyTorch "
              "is not in the process, with --with samples everywhere.",
       .group_by = kGroupBy,
       .sort = "-self_percent",
       .example = "fathom hot fathom-runs/20260101-120000-app --group-by line --limit 20",
       .needs = kNeeds,
       .importance = kImportance,
       .whole = true});
}

}  // namespace
}  // namespace hot_report

Report hot() { return hot_report::report(); }

}  // namespace fathom
