// roofline: what operators reach of what the device could do.
#include "analysis/roofline/roofline.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "reports/report.h"

namespace fathom {
namespace roofline_report {
namespace {

struct Shared {
  const Trace* trace = nullptr;
  Duration all{};  ///< Of all selected device activities.
};
using RooflineRows = ReportRows<RooflineRow, Shared>;

Signature signature_of(const RooflineRow& row, const Shared& shared) {
  return row.signature.valid() ? shared.trace->signatures[row.signature.row()] : Signature();
}

std::string_view text_of(const Shared& shared, StringId id) {
  return id.valid() ? shared.trace->text(id) : std::string_view();
}

std::optional<std::string> shapes_of(const RooflineRow& row, const Shared& shared) {
  const std::string_view shapes = text_of(shared, signature_of(row, shared).shapes);
  if (shapes.empty()) return {};
  return flat_shapes(shapes);
}

std::optional<std::string_view> types_of(const RooflineRow& row, const Shared& shared) {
  return text_or_null(text_of(shared, signature_of(row, shared).types));
}

bool arithmetic_known(const RooflineRow& row) { return row.cost && row.cost->flops_known; }

std::optional<std::int64_t> flops_of(const RooflineRow& row) {
  if (!arithmetic_known(row)) return {};
  return std::llround(row.cost->flops);
}

std::optional<std::int64_t> bytes_of(const RooflineRow& row) {
  if (!row.cost) return {};
  return std::llround(row.cost->bytes);
}

std::optional<double> intensity_of(const RooflineRow& row) {
  if (!arithmetic_known(row) || !(row.cost->bytes > 0)) return {};
  return row.intensity();
}

std::optional<double> tflops_of(const RooflineRow& row) {
  if (!arithmetic_known(row)) return {};
  return row.flops_per_s() * 1e-12;
}

std::optional<double> gbs_of(const RooflineRow& row) {
  if (!row.cost) return {};
  return row.bytes_per_s() * 1e-9;
}

/// Unset where the row could not be judged.
template <typename T>
std::optional<T> judged(const RooflineRow& row, T value) {
  return row.bound != Bound::unknown ? std::optional(value) : std::nullopt;
}

/// "bf16 matrix"; unset where unknown.
std::optional<std::string> arithmetic_of(const RooflineRow& row) {
  if (!arithmetic_known(row) || row.cost->flops == 0) return {};
  return std::string(to_string(row.cost->type)) + (row.cost->matrix ? " matrix" : "");
}

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

constexpr RooflineRows::Column kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the operator.",
     [](const RooflineRow& row, const Shared& shared) { return shared.trace->text(row.name); }},
    {"input_shapes", ColumnKind::name, "", "Shapes of its arguments as recorded.", by<shapes_of>},
    {"input_types", ColumnKind::name, "", "Types of its arguments as recorded.", by<types_of>,
     true},
    {"calls", ColumnKind::count, "", "Calls that started device activities.",
     by<&RooflineRow::calls>},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Sum of the durations of its device activities.", by<&RooflineRow::device_time>},
    {"percent", ColumnKind::percent, "percent",
     "Its share of the durations of all selected device activities.",
     [](const RooflineRow& row, const Shared& shared) {
       return percent_of(row.device_time, shared.all);
     }},
    {"flops", ColumnKind::count, "", "Floating-point operations of one call.", by<flops_of>},
    {"bytes", ColumnKind::bytes, "bytes",
     "Least bytes of one call: each input read once, each output written once.", by<bytes_of>},
    {"intensity", ColumnKind::real, "FLOP/byte", "Floating-point operations per byte.",
     by<intensity_of>},
    {"achieved_tflops", ColumnKind::real, "TFLOP/s",
     "Floating-point operations per second of device time, in 10^12.", by<tflops_of>},
    {"achieved_gbs", ColumnKind::real, "GB/s", "Least bytes per second of device time, in 10^9.",
     by<gbs_of>},
    {"bound", ColumnKind::text, "",
     "Which roof is the lower one where at least 60 % of it is reached, compute or bandwidth; else "
     "latency.",
     [](const RooflineRow& row) { return judged(row, to_string(row.bound)); }},
    {"roof_percent", ColumnKind::percent, "percent",
     "The least time that the peaks allow, as a share of the device time; above 100 where the data "
     "came from the cache or the clock was higher than the peaks assume.",
     [](const RooflineRow& row) { return judged(row, row.roof_percent); }},
    {"speed_of_light_ns", ColumnKind::duration_ns, "ns",
     "The least time that all calls together could take by the device's peaks.",
     [](const RooflineRow& row) { return judged(row, row.speed_of_light); }},
    {"headroom_ns", ColumnKind::duration_ns, "ns", "Device time above that.",
     [](const RooflineRow& row) { return judged(row, row.headroom); }},
    {"arithmetic", ColumnKind::text, "", "Type of the arithmetic, which decides the compute peak.",
     by<arithmetic_of>},
    {"peak_tflops", ColumnKind::real, "TFLOP/s", "The compute peak it is judged by.",
     [](const RooflineRow& row) { return positive(row.peak_flops * 1e-12); }, true},
    {"peak_gbs", ColumnKind::real, "GB/s",
     "The bandwidth it is judged by: of memory, or of the shared cache.",
     [](const RooflineRow& row) { return positive(row.peak_bytes * 1e-9); }, true},
    {"in_cache", ColumnKind::flag, "", "One call's bytes fit in the cache that all share.",
     [](const RooflineRow& row) { return row.cost ? std::optional(row.in_l2) : std::nullopt; },
     true},
};

constexpr std::string_view kImportance[] = {
    "name",  "device_total_ns", "roof_percent", "headroom_ns",     "input_shapes",
    "bound", "calls",           "percent",      "achieved_tflops", "achieved_gbs",
    "flops", "bytes",           "intensity"};

constexpr ReportOption kPeaks = {
    .name = "peaks",
    .type = OptionType::device,
    .doc =
        "Compare with this device instead of the recorded one: 'H100 SXM', or a JSON file that "
        "describes one (docs/metrics.md)",
    .value = "NAME|FILE"};
constexpr ReportOption kOptions[] = {kPeaks};

std::string share(Duration part, Duration whole) {
  return percent_text(100.0 * static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole)));
}

/// What the rows do not cover.
void add_notes(const Roofline& roofline, RooflineRows& table) {
  const Duration all = table.shared.all;
  table.notes.push_back(roofline.note);
  if (all == Duration{}) return;
  Duration unpriced{};
  for (const RooflineRow& row : roofline.rows) {
    if (!row.cost) unpriced += row.device_time;
  }
  if (unpriced > Duration{}) {
    table.notes.push_back(share(unpriced, all) +
                          " of the device time is of operators whose cost is not known: shapes "
                          "not recorded (record_shapes=True), or no formula.");
  }
  if (roofline.without_operator > Duration{}) {
    table.notes.push_back(share(roofline.without_operator, all) +
                          " of the device time belongs to no operator, and to no row.");
  }
}

Result<RooflineRows> compute(const Context& context, const OptionValues& own) {
  Context compared = context;
  if (const DeviceSpec* const device = own.device(kPeaks)) compared.options.peaks = device;
  Roofline roofline = compute_roofline(compared);
  RooflineRows table{.shared = {&context.trace, roofline.without_operator}};
  for (const RooflineRow& row : roofline.rows) table.shared.all += row.device_time;
  add_notes(roofline, table);
  table.rows = std::move(roofline.rows);
  return table;
}

constexpr Need kNeeds[] = {
    {StoreTable::activities,
     "No device activity was recorded, and this table is about device activity."}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "roofline",
       .title = "Operators against what the device could do",
       .doc = "One row per operator, shapes and types: what one call has to compute and move at "
              "least, what it achieved of that, and how far that is from the device's peaks. An "
              "activity counts in the row of the innermost operator around it that has a formula; "
              "convolutions and attention include all that runs inside them. The largest headroom "
              "comes first. Copies between host and device are judged by the link. Dense peaks at "
              "boost "
              "clock, so that 70 to 90 % is as good as it gets.",
       .group_by = {},
       .sort = "",
       .example = "fathom roofline trace.json.gz --limit 20",
       .options = kOptions,
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace roofline_report

Report roofline() { return roofline_report::report(); }

}  // namespace fathom
