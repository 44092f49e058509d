// roofline: what operators reach of what the device could do.
#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <cmath>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the operator."},
    {"input_shapes", ColumnKind::name, "", "Shapes of its arguments as recorded."},
    {"input_types", ColumnKind::name, "", "Types of its arguments as recorded.", true},
    {"calls", ColumnKind::count, "", "Calls that started device activities."},
    {"device_total_ns", ColumnKind::duration_ns, "ns",
     "Sum of the durations of its device activities."},
    {"percent", ColumnKind::percent, "percent",
     "Its share of the durations of all selected device activities."},
    {"flops", ColumnKind::count, "", "Floating-point operations of one call."},
    {"bytes", ColumnKind::bytes, "bytes",
     "Least bytes of one call: each input read once, each output written once."},
    {"intensity", ColumnKind::real, "FLOP/byte", "Floating-point operations per byte."},
    {"achieved_tflops", ColumnKind::real, "TFLOP/s",
     "Floating-point operations per second of device time, in 10^12."},
    {"achieved_gbs", ColumnKind::real, "GB/s", "Least bytes per second of device time, in 10^9."},
    {"bound", ColumnKind::text, "",
     "Which roof is the lower one where at least 60 % of it is reached, compute or bandwidth; else "
     "latency."},
    {"roof_percent", ColumnKind::percent, "percent",
     "The least time that the peaks allow, as a share of the device time; above 100 where the data "
     "came from the cache or the clock was higher than the peaks assume."},
    {"speed_of_light_ns", ColumnKind::duration_ns, "ns",
     "The least time that all calls together could take by the device's peaks."},
    {"headroom_ns", ColumnKind::duration_ns, "ns", "Device time above that."},
    {"arithmetic", ColumnKind::text, "", "Type of the arithmetic, which decides the compute peak."},
    {"peak_tflops", ColumnKind::real, "TFLOP/s", "The compute peak it is judged by.", true},
    {"peak_gbs", ColumnKind::real, "GB/s",
     "The bandwidth it is judged by: of memory, or of the shared cache.", true},
    {"in_cache", ColumnKind::flag, "", "One call's bytes fit in the cache that all share.", true},
};

constexpr std::string_view kImportance[] = {
    "name",  "device_total_ns", "roof_percent", "headroom_ns",     "input_shapes",
    "bound", "calls",           "percent",      "achieved_tflops", "achieved_gbs",
    "flops", "bytes",           "intensity"};

constexpr std::string_view kOptions[] = {"peaks", "svg"};

std::string_view text_of(const Trace& trace, StringId id) {
  return id.valid() ? trace.text(id) : std::string_view();
}

/// "bf16 matrix"; null where unknown.
Value arithmetic(const RooflineRow& row) {
  if (!row.cost || !row.cost->flops_known || row.cost->flops == 0) return {};
  return std::string(to_string(row.cost->type)) + (row.cost->matrix ? " matrix" : "");
}

Value positive(double value) { return value > 0 ? Value(value) : Value(); }

std::vector<Value> cells(const Trace& trace, const RooflineRow& row, Duration all) {
  const Signature signature =
      row.signature.valid() ? trace.signatures[row.signature.row()] : Signature();
  const std::string_view shapes = text_of(trace, signature.shapes);
  const bool arithmetic_known = row.cost && row.cost->flops_known;
  const bool judged = row.bound != Bound::unknown;
  return {
      text_value(trace.text(row.name)),
      shapes.empty() ? Value() : Value(flat_shapes(shapes)),
      text_or_null(text_of(trace, signature.types)),
      int_value(row.calls),
      ns_value(row.device_time),
      percent_value(static_cast<double>(to_ns(row.device_time)), static_cast<double>(to_ns(all))),
      arithmetic_known ? int_value(std::llround(row.cost->flops)) : Value(),
      row.cost ? int_value(std::llround(row.cost->bytes)) : Value(),
      arithmetic_known && row.cost->bytes > 0 ? Value(row.intensity()) : Value(),
      arithmetic_known ? Value(row.flops_per_s() * 1e-12) : Value(),
      row.cost ? Value(row.bytes_per_s() * 1e-9) : Value(),
      judged ? text_value(to_string(row.bound)) : Value(),
      judged ? Value(row.roof_percent) : Value(),
      judged ? ns_value(row.speed_of_light) : Value(),
      judged ? ns_value(row.headroom) : Value(),
      arithmetic(row),
      positive(row.peak_flops * 1e-12),
      positive(row.peak_bytes * 1e-9),
      row.cost ? Value(row.in_l2) : Value(),
  };
}

std::string share(Duration part, Duration whole) {
  return percent_text(100.0 * static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole)));
}

/// What the rows do not cover.
void add_notes(const Roofline& roofline, Duration all, Table& table) {
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

Result<Table> compute(const Context& context) {
  const Roofline roofline = compute_roofline(context);
  Duration all = roofline.without_operator;
  for (const RooflineRow& row : roofline.rows) all += row.device_time;
  Table table;
  for (const RooflineRow& row : roofline.rows) table.rows.push_back(cells(context.trace, row, all));
  add_notes(roofline, all, table);
  return table;
}

}  // namespace

Report roofline() {
  return {.id = "roofline",
          .title = "Operators against what the device could do",
          .doc =
              "One row per operator, shapes and types: what one call has to compute and move at "
              "least, what it achieved of that, and how far that is from the device's peaks. An "
              "activity counts in the row of the innermost operator around it that has a formula; "
              "convolutions and attention include all that runs inside them. The largest headroom "
              "comes first. Copies between host and device are judged by the link. Dense peaks at "
              "boost "
              "clock, so that 70 to 90 % is as good as it gets.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom roofline trace.json.gz --limit 20",
          .compute = compute,
          .options = kOptions,
          .importance = kImportance};
}

}  // namespace fathom
