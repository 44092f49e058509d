// Prices each operator once per signature, and compares with the peaks.
#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analysis/context.h"
#include "analysis/kernels/occupancy.h"
#include "analysis/structure/from_outside.h"
#include "analysis/util/key_index.h"

namespace fathom {
namespace {

double seconds(Duration duration) { return static_cast<double>(to_ns(duration)) * 1e-9; }

/// The type of the tensors that a kernel over lists of them works on, from its template arguments.
std::string_view list_type_of(std::string_view kernel) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMarks = {{
      {"OpaqueType<1u>", "unsigned char"},
      {"OpaqueType<2u>", "Half"},
      {"OpaqueType<4u>", "float"},
      {"OpaqueType<8u>", "double"},
      {"BFloat16", "BFloat16"},
      {"Half", "Half"},
      {"double", "double"},
      {"float", "float"},
  }};
  std::string_view type;
  std::size_t first = std::string_view::npos;
  for (const auto& [mark, of_mark] : kMarks) {
    const std::size_t at = kernel.find(mark);
    if (at >= first) continue;
    first = at;
    type = of_mark;
  }
  return type;
}

/// Finds the operator that an activity counts for.
class Pricing {
 public:
  explicit Pricing(const Context& context)
      : trace_(context.trace),
        nesting_(context.nesting()),
        links_(context.links()),
        formulas_(trace_.strings.size()),
        known_(trace_.strings.size()) {
    whole_notes_.resize(trace_.slices.size());
    priced_notes_.resize(trace_.slices.size());
  }

  /// Invalid where the activity lies in no operator.
  SliceId op_of(SliceId activity) {
    const SliceId innermost = links_.op[activity.row()];
    const auto has_formula = [this](SliceId slice) {
      return trace_.kind(slice) == SliceKind::cpu_op && formula_of(trace_.slices.name[slice.row()]);
    };
    const auto is_whole = [&](SliceId slice) {
      return has_formula(slice) && formula_of(trace_.slices.name[slice.row()]).whole;
    };
    const SliceId whole = outermost_around(whole_notes_, nesting_.parent, innermost, is_whole);
    if (whole.valid()) return whole;
    const SliceId priced = innermost_around(priced_notes_, nesting_.parent, innermost, has_formula);
    return priced.valid() ? priced : innermost;
  }

  std::optional<OpCost> cost_of(SliceId op, SliceId activity) {
    const OpFormula& formula = formula_of(trace_.slices.name[op.row()]);
    const SignatureId signature = signature_of(op);
    if (!formula || !signature.valid()) return std::nullopt;
    const Signature& texts = trace_.signatures[signature.row()];
    if (!texts.shapes.valid() || !texts.types.valid()) return std::nullopt;
    const std::string_view concrete = texts.concrete.valid() ? trace_.text(texts.concrete) : "";
    return formula(OpArguments(trace_.text(texts.shapes), trace_.text(texts.types), concrete,
                               list_type_of(trace_.name(activity))));
  }

  [[nodiscard]] SignatureId signature_of(SliceId op) const {
    const std::uint32_t detail = trace_.slices.detail[op.row()];
    return detail == SliceId::kNone ? SignatureId() : trace_.ops.signature[detail];
  }

 private:
  const OpFormula& formula_of(StringId name) {
    if (!known_[name.row()]) {
      known_[name.row()] = true;
      formulas_[name.row()] = op_formula(trace_.strings.view(name));
    }
    return formulas_[name.row()];
  }

  const Trace& trace_;
  const Nesting& nesting_;
  const Links& links_;
  std::vector<OpFormula> formulas_;  // by StringId row
  std::vector<bool> known_;
  FromOutside whole_notes_;
  FromOutside priced_notes_;
};

/// Adds activities to their rows.
class Rows {
 public:
  Rows(const Context& context, Roofline& roofline)
      : trace_(context.trace), roofline_(roofline), pricing_(context), seen_(trace_.slices.size()) {
    traits_ = &context.timelines();
  }

  void add(SliceId activity) {
    const Duration duration = trace_.slices.duration[activity.row()];
    const SliceId op = pricing_.op_of(activity);
    if (!op.valid()) {
      roofline_.without_operator += duration;
      return;
    }
    const std::uint32_t number = row_of(op, activity);
    roofline_.row_of_activity.at(activity.row()).value = number;
    RooflineRow& row = roofline_.rows[number];
    row.device_time += duration;
    ++row.activities;
    if (!seen_[op.row()]) {
      seen_[op.row()] = true;
      ++row.calls;
    }
    // The kernel's name shows whether single precision was shortened to TF32.
    const bool tensor_cores =
        traits_->traits[trace_.slices.name[activity.row()].row()].tensor_cores;
    if (row.cost && row.cost->matrix && row.cost->type == NumberType::fp32 && tensor_cores) {
      row.cost->type = NumberType::tf32;
    }
  }

 private:
  using Key = std::tuple<StringId, StringId, StringId, bool, double, double>;

  std::uint32_t row_of(SliceId op, SliceId activity) {
    const StringId name = trace_.slices.name[op.row()];
    const SignatureId signature = pricing_.signature_of(op);
    const bool over_link = crosses_link(activity);
    const auto [at, added] = by_signature_[over_link ? 1 : 0].try_emplace(
        std::uint64_t{name.value} << 32 | signature.value, std::uint32_t{});
    if (!added) return at->second;
    const std::optional<OpCost> cost = pricing_.cost_of(op, activity);
    const Signature texts = signature.valid() ? trace_.signatures[signature.row()] : Signature();
    const Key key{name,
                  texts.shapes,
                  texts.types,
                  over_link,
                  cost ? cost->flops : -1,
                  cost ? cost->bytes : -1};
    const auto [row, is_new] =
        by_cost_.try_emplace(key, static_cast<std::uint32_t>(roofline_.rows.size()));
    if (is_new) {
      roofline_.rows.push_back(
          {.name = name, .signature = signature, .cost = cost, .over_link = over_link});
    }
    at->second = row->second;
    return row->second;
  }

  /// Between host and device?
  [[nodiscard]] bool crosses_link(SliceId activity) const {
    const std::uint32_t detail = trace_.slices.detail[activity.row()];
    if (trace_.kind(activity) != SliceKind::memcpy || detail == SliceId::kNone) return false;
    const CopyKind kind = trace_.copies.kind[detail];
    return kind == CopyKind::h2d || kind == CopyKind::d2h;
  }

  const Trace& trace_;
  Roofline& roofline_;
  Pricing pricing_;
  const Timelines* traits_;
  std::vector<bool> seen_;  // operators counted as a call
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, 2> by_signature_;  // over the link?
  std::map<Key, std::uint32_t> by_cost_;
};

/// Compares a row with the peaks of a device.
void judge(const DeviceSpec& device, RooflineRow& row) {
  if (!row.cost) return;
  const OpCost& cost = *row.cost;
  row.in_l2 = !row.over_link && device.l2 > 0 && cost.bytes <= static_cast<double>(device.l2);
  row.peak_flops = device.peak(cost.type, cost.matrix);
  row.peak_bytes = row.in_l2 && device.l2_bandwidth > 0 ? device.l2_bandwidth : device.bandwidth;
  // What is read on one side and written on the other crosses the link once.
  if (row.over_link) row.peak_bytes = 2 * device.pcie_bandwidth;
  if (row.peak_flops <= 0 || row.peak_bytes <= 0 || row.device_time <= Duration{}) return;
  const double compute = cost.flops / row.peak_flops;
  const double memory = cost.bytes / row.peak_bytes;
  const double least = std::max(compute, memory) * static_cast<double>(row.calls);
  row.speed_of_light = duration_ns(std::llround(least * 1e9));
  row.headroom = std::max(Duration{}, row.device_time - row.speed_of_light);
  row.roof_percent = 100 * least / seconds(row.device_time);
  row.bound = row.roof_percent < kLatencyPercent ? Bound::latency
              : compute >= memory                ? Bound::compute
                                                 : Bound::bandwidth;
}

/// The spec of the first selected device that did anything.
void choose_device(const Context& context, Roofline& roofline) {
  if (context.options.peaks != nullptr) {
    roofline.device = context.options.peaks;
    roofline.note = "Peaks of " + std::string(roofline.device->name) + ", as asked for.";
    return;
  }
  const Selector selector = context.selector();
  if (context.timelines().devices.empty()) {
    roofline.note = "No device activity was recorded, and this table is about device activity.";
    return;
  }
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    if (selector.device && timeline.device != *selector.device) continue;
    const Device* const recorded = device_properties(context.trace, timeline.device);
    if (recorded == nullptr) continue;
    roofline.device = find_device_spec(all_device_specs(), *recorded);
    const std::string name = recorded->name.empty() ? "a device without a name" : recorded->name;
    if (roofline.device == nullptr) {
      roofline.note = "No peaks are known for " + name + "; give them with --peaks.";
      return;
    }
    roofline.note = "Peaks of " + std::string(roofline.device->name) + ", for " + name + ".";
    if (recorded->sms > 0 && recorded->sms != roofline.device->sms) {
      roofline.note += " It has " + std::to_string(recorded->sms) + " multiprocessors, not " +
                       std::to_string(roofline.device->sms) +
                       ": the peaks are too high or too low.";
    }
    return;
  }
  roofline.note =
      "The trace does not show which device it was recorded on; name it with --peaks, for example "
      "--peaks 'H100 SXM'.";
}

/// Orders the rows by device time, and renumbers what refers to them.
void sort_rows(Roofline& roofline) {
  std::vector<std::uint32_t> order(roofline.rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::uint32_t row) { return roofline.rows[row].device_time; });
  std::vector<RooflineRow> sorted;
  std::vector<std::uint32_t> place(order.size());
  for (const std::uint32_t row : order) {
    place[row] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(roofline.rows[row]);
  }
  roofline.rows = std::move(sorted);
  for (Roofline::RowNumber& row : roofline.row_of_activity.by_rank()) {
    if (row.value < place.size()) row.value = place[row.value];
  }
}

double rate(double per_call, const RooflineRow& row) {
  const double time = seconds(row.device_time);
  return time > 0 ? per_call * static_cast<double>(row.calls) / time : 0;
}

}  // namespace

std::string_view to_string(Bound bound) {
  constexpr std::array<std::string_view, 4> kNames = {"compute", "bandwidth", "latency", "unknown"};
  return kNames[static_cast<std::size_t>(bound)];
}

double RooflineRow::intensity() const {
  return cost && cost->bytes > 0 ? cost->flops / cost->bytes : 0;
}
double RooflineRow::flops_per_s() const { return cost ? rate(cost->flops, *this) : 0; }
double RooflineRow::bytes_per_s() const { return cost ? rate(cost->bytes, *this) : 0; }

Roofline compute_roofline(const Context& context) {
  Roofline roofline;
  roofline.row_of_activity = context.links().op.beside<Roofline::RowNumber>();
  Rows rows(context, roofline);
  const Selector selector = context.selector();
  for (const SliceId activity : context.links().activities) {
    if (selector.activity(context.trace, activity)) rows.add(activity);
  }
  sort_rows(roofline);
  choose_device(context, roofline);
  if (roofline.device != nullptr) {
    for (RooflineRow& row : roofline.rows) judge(*roofline.device, row);
  }
  return roofline;
}

}  // namespace fathom
