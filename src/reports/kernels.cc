// kernels: device time by kernel, with launch shape, occupancy and the operators behind it.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/devices/launch_waste.h"
#include "analysis/kernels/occupancy.h"
#include "reports/groups.h"
#include "reports/report.h"
#include "stats/summary.h"

namespace fathom {
namespace kernels_report {
namespace {

/// Nsight Compute speaks of a tail from a fifth of the time on; less is seldom worth a change.
constexpr double kWorthAdvice = 0.2;

constexpr std::string_view kGroupBy[] = {"name", "config", "op", "stream"};

/// A mean weighted by duration, over the launches that know the value. Launches without any
/// duration count evenly when there is nothing else.
class WeightedMean {
 public:
  void add(std::optional<double> value, Duration duration) {
    if (!value) return;
    const auto weight = static_cast<double>(to_ns(duration));
    sum_ += *value * weight;
    weight_ += weight;
    plain_ += *value;
    ++count_;
  }
  [[nodiscard]] std::optional<double> mean() const {
    if (count_ == 0) return {};
    return weight_ > 0 ? sum_ / weight_ : plain_ / static_cast<double>(count_);
  }
  /// The mean is a share of 1.
  [[nodiscard]] std::optional<double> percent() const {
    const std::optional<double> value = mean();
    return value ? std::optional(100.0 * *value) : std::nullopt;
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
  double plain_ = 0;
  std::size_t count_ = 0;
};

/// What one launch configuration means on one device.
struct ConfigFacts {
  std::optional<Occupancy> occupancy;
  std::optional<double> blocks_per_sm;
  std::optional<double> waves;
  LaunchWaste waste;
};

ConfigFacts facts_of(const LaunchConfig& config, const Device* device) {
  ConfigFacts facts;
  facts.blocks_per_sm = grid_blocks_per_sm(config, device);
  facts.waste = launch_waste(config, device);
  if (device == nullptr) return facts;
  const std::optional<MultiprocessorLimits> limits = multiprocessor_limits(*device);
  if (limits) facts.occupancy = theoretical_occupancy(*limits, config);
  if (facts.occupancy) facts.waves = waves(*limits, config, *facts.occupancy);
  return facts;
}

struct Group {
  StringId name{};
  std::uint64_t calls = 0;
  Duration total{};
  Duration min = Duration::max();
  Duration max{};
  RunningMoments moments;
  Agreed<std::array<std::int32_t, 3>> grid;
  Agreed<std::array<std::int32_t, 3>> block;
  Agreed<std::int32_t> registers;
  Agreed<std::int64_t> shared_memory;
  Agreed<OccupancyLimiter> limiter;
  Agreed<std::int32_t> device;
  Agreed<std::int64_t> stream;
  WeightedMean occupancy;
  WeightedMean resident;
  WeightedMean achieved;
  WeightedMean blocks_per_sm;
  WeightedMean wave_count;
  WeightedMean tail;
  WeightedMean small_grid;
  WeightedMean ragged_block;
  std::uint64_t short_launches = 0;
  OpCounts ops;
};

/// Adds kernels to their groups.
class Grouping {
 public:
  explicit Grouping(const Context& context) : context_(context), trace_(context.trace) {}

  void add(SliceId kernel) {
    const std::uint32_t op = op_key(context_, kernel);
    const std::size_t number = index_.of(key(kernel, op));
    if (number == groups_.size()) groups_.emplace_back().name = trace_.slices.name[kernel.row()];
    Group& group = groups_[number];
    const Duration duration = trace_.slices.duration[kernel.row()];
    ++group.calls;
    group.total += duration;
    group.min = std::min(group.min, duration);
    group.max = std::max(group.max, duration);
    group.moments.add(static_cast<double>(to_ns(duration)));
    group.ops.add(op);
    const SliceId launch = context_.links().launch[kernel.row()];
    if (launch.valid() && duration < trace_.slices.duration[launch.row()]) ++group.short_launches;
    const Track& track = trace_.track(kernel);
    group.device.add(track.device);
    group.stream.add(track.stream);
    if (const LaunchConfigId config = config_of(kernel); config.valid()) {
      add_config(group, config, track.device, duration);
    }
  }
  [[nodiscard]] std::vector<Group> take() { return std::move(groups_); }

 private:
  [[nodiscard]] LaunchConfigId config_of(SliceId kernel) const {
    const std::uint32_t detail = trace_.slices.detail[kernel.row()];
    return detail == SliceId::kNone ? LaunchConfigId() : trace_.kernels.config[detail];
  }
  [[nodiscard]] std::uint64_t key(SliceId kernel, std::uint32_t op) const {
    const std::uint32_t name = trace_.slices.name[kernel.row()].value;
    const std::string& by = context_.options.group_by;
    if (by == "config") return pair_key(name, config_of(kernel).value);
    if (by == "op") return pair_key(name, op);
    if (by == "stream") return pair_key(name, trace_.slices.track[kernel.row()].value);
    return pair_key(name, 0);
  }
  void add_config(Group& group, LaunchConfigId id, std::int32_t device, Duration duration) {
    const LaunchConfig& config = trace_.launch_configs[id.row()];
    group.grid.add(config.grid);
    group.block.add(config.block);
    group.registers.add(config.registers);
    group.shared_memory.add(config.shared_memory);
    const std::size_t number =
        fact_index_.of(pair_key(id.value, static_cast<std::uint32_t>(device)));
    if (number == facts_.size())
      facts_.push_back(facts_of(config, device_properties(trace_, device)));
    const ConfigFacts& facts = facts_[number];
    if (facts.occupancy) {
      group.limiter.add(facts.occupancy->limiter);
      group.occupancy.add(facts.occupancy->percent, duration);
      group.resident.add(static_cast<double>(facts.occupancy->blocks_per_sm), duration);
    }
    if (config.occupancy_percent >= 0) group.achieved.add(config.occupancy_percent, duration);
    group.blocks_per_sm.add(facts.blocks_per_sm, duration);
    group.wave_count.add(facts.waves, duration);
    group.tail.add(facts.waste.tail, duration);
    group.small_grid.add(facts.waste.small_grid, duration);
    group.ragged_block.add(facts.waste.ragged_block, duration);
  }

  const Context& context_;
  const Trace& trace_;
  GroupIndex index_;
  std::vector<Group> groups_;
  GroupIndex fact_index_;
  std::vector<ConfigFacts> facts_;
};

struct Shared {
  const Context* context = nullptr;
  Duration all{};  ///< Of all rows.
  [[nodiscard]] KernelTraits traits(const Group& group) const {
    return context->timelines().traits[group.name.row()];
  }
};
using Kernels = ReportRows<Group, Shared>;

std::optional<std::string> extent_of(const Agreed<std::array<std::int32_t, 3>>& extent) {
  const auto value = extent.get();
  if (!value || (*value)[0] == 0) return {};
  const auto& [x, y, z] = *value;
  return '[' + std::to_string(x) + ',' + std::to_string(y) + ',' + std::to_string(z) + ']';
}

std::optional<std::string_view> limiter_of(const Group& group) {
  const std::optional<OccupancyLimiter> limiter = group.limiter.get();
  return limiter ? std::optional(to_string(*limiter)) : std::nullopt;
}

/// "tail, small grid, short": what is worth a look.
std::optional<std::string> advice_of(const Group& group) {
  std::vector<std::pair<double, std::string_view>> wastes = {
      {group.small_grid.mean().value_or(0), "small grid"},
      {group.tail.mean().value_or(0), "tail"},
      {group.ragged_block.mean().value_or(0), "ragged block"},
  };
  std::ranges::stable_sort(wastes, std::ranges::greater(),
                           &std::pair<double, std::string_view>::first);
  std::string text;
  for (const auto& [share, name] : wastes) {
    if (share >= kWorthAdvice) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  if (group.short_launches * 2 > group.calls) text += text.empty() ? "short" : ", short";
  return made_or_null(std::move(text));
}

constexpr Kernels::Column kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the kernel as recorded.",
     [](const Group& group, const Shared& shared) {
       return shared.context->trace.text(group.name);
     }},
    {"class", ColumnKind::text, "",
     "What it does, from its name: gemm, conv, attention, normalisation, softmax, elementwise, "
     "reduction, embedding, "
     "optimizer, copy-like, communication or other.",
     [](const Group& group, const Shared& shared) {
       return to_string(shared.traits(group).kernel_class);
     }},
    {"calls", ColumnKind::count, "", "How often it ran.", by<&Group::calls>},
    {"total_ns", ColumnKind::duration_ns, "ns", "Sum of its durations.", by<&Group::total>},
    {"mean_ns", ColumnKind::duration_ns, "ns", "Mean duration, rounded.",
     [](const Group& group) { return std::llround(group.moments.mean()); }},
    {"min_ns", ColumnKind::duration_ns, "ns", "Shortest duration.", by<&Group::min>},
    {"max_ns", ColumnKind::duration_ns, "ns", "Longest duration.", by<&Group::max>},
    {"stddev_ns", ColumnKind::duration_ns, "ns",
     "Standard deviation of the durations as a sample (n - 1), rounded.",
     [](const Group& group) { return std::llround(group.moments.stddev()); }, true},
    {"percent", ColumnKind::percent, "percent", "Its share of the time of all selected kernels.",
     [](const Group& group, const Shared& shared) { return percent_of(group.total, shared.all); }},
    {"tensor_cores", ColumnKind::flag, "",
     "Its name shows that it uses matrix units (Tensor Cores, MFMA).",
     [](const Group& group, const Shared& shared) { return shared.traits(group).tensor_cores; }},
    {"grid", ColumnKind::text, "", "Blocks in x, y, z, where all its launches agree.",
     [](const Group& group) { return extent_of(group.grid); }, false, "config"},
    {"block", ColumnKind::text, "", "Threads of a block in x, y, z, where all its launches agree.",
     [](const Group& group) { return extent_of(group.block); }, false, "config"},
    {"registers", ColumnKind::integer, "", "Registers per thread, where all its launches agree.",
     [](const Group& group) { return shared_value(group.registers, -1); }, true, "config"},
    {"shared_memory_bytes", ColumnKind::bytes, "bytes",
     "Static and dynamic shared memory per block, where all its launches agree.",
     [](const Group& group) { return shared_value(group.shared_memory, kAbsent); }, true, "config"},
    {"occupancy_percent", ColumnKind::percent, "percent",
     "Theoretical occupancy: warps that fit on a multiprocessor of the warps it can hold; mean "
     "weighted by duration.",
     [](const Group& group) { return group.occupancy.mean(); }},
    {"occupancy_limiter", ColumnKind::text, "",
     "What limits it: warps, registers, shared memory or blocks, where all its launches agree.",
     by<limiter_of>},
    {"achieved_occupancy_percent", ColumnKind::percent, "percent",
     "Estimated achieved occupancy as recorded; mean weighted by duration.",
     [](const Group& group) { return group.achieved.mean(); }, true},
    {"blocks_per_sm", ColumnKind::real, "",
     "Blocks of the grid per multiprocessor; mean weighted by duration.",
     [](const Group& group) { return group.blocks_per_sm.mean(); }, true},
    {"resident_blocks_per_sm", ColumnKind::real, "",
     "Blocks that fit on a multiprocessor at once; mean weighted by duration.",
     [](const Group& group) { return group.resident.mean(); }, true},
    {"waves", ColumnKind::real, "",
     "How often the device is filled with blocks to run the grid; mean weighted by duration.",
     [](const Group& group) { return group.wave_count.mean(); }},
    {"tail_percent", ColumnKind::percent, "percent",
     "Time spent waiting for a tail effect (the empty part of the last wave, of all waves); mean "
     "weighted by duration.",
     [](const Group& group) { return group.tail.percent(); }, true},
    {"idle_sm_percent", ColumnKind::percent, "percent",
     "Multiprocessors that get no block of the grid; mean weighted by duration.",
     [](const Group& group) { return group.small_grid.percent(); }, true},
    {"idle_lane_percent", ColumnKind::percent, "percent",
     "Lanes of the blocks' warps without a thread: block sizes that are no multiple of the warp; "
     "mean weighted by duration.",
     [](const Group& group) { return group.ragged_block.percent(); }, true},
    {"short_launches", ColumnKind::count, "",
     "How often it ran shorter than the host call that launched it.", by<&Group::short_launches>,
     true},
    {"launch_advice", ColumnKind::text, "",
     "What its launches waste, the largest part first: small grid, tail, ragged block; and short, "
     "where most of them ran shorter than the call that launched them.",
     by<advice_of>, true},
    {"device", ColumnKind::integer, "", "Device number, where all its launches agree.",
     [](const Group& group) { return shared_value(group.device, -1); }},
    {"stream", ColumnKind::integer, "", "Stream number, where all its launches agree.",
     [](const Group& group) { return shared_value(group.stream, kAbsent); }, false, "stream"},
    {"ops", ColumnKind::name, "", "Operators that launch it, the most frequent first.",
     [](const Group& group, const Shared& shared) { return group.ops.text(shared.context->trace); },
     false, "op"},
};

Result<Kernels> compute(const Context& context) {
  Kernels kernels{.shared = {&context}};
  Grouping grouping(context);
  const Selector selector = context.selector();
  for (const SliceId activity : context.links().activities) {
    if (context.trace.kind(activity) != SliceKind::kernel) continue;
    if (!selector.activity(context.trace, activity)) continue;
    kernels.shared.all += context.trace.slices.duration[activity.row()];
    grouping.add(activity);
  }
  kernels.rows = grouping.take();
  return kernels;
}

constexpr std::string_view kImportance[] = {"name",
                                            "calls",
                                            "total_ns",
                                            "percent",
                                            "mean_ns",
                                            "class",
                                            "tensor_cores",
                                            "occupancy_percent",
                                            "occupancy_limiter",
                                            "waves",
                                            "block",
                                            "grid",
                                            "ops",
                                            "max_ns",
                                            "min_ns",
                                            "stream",
                                            "device"};

constexpr Need kNeeds[] = {{StoreTable::kernels}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "kernels",
       .title = "Device time by kernel: class, launch shape, occupancy, operators",
       .doc = "One row per kernel name; --group-by config, op or stream splits it by launch "
              "configuration, by the "
              "operator that launched it or by stream. A kernel belongs to the steps or the window "
              "in which it "
              "starts. The totals of this table and of `copies` sum to the device time.",
       .group_by = kGroupBy,
       .sort = "-total_ns",
       .example = "fathom kernels trace.json.gz --group-by op --limit 20",
       .needs = kNeeds,
       .none = "The trace holds no kernels.",
       .importance = kImportance});
}

}  // namespace
}  // namespace kernels_report

Report kernels() { return kernels_report::report(); }

}  // namespace fathom
