// Counts launches, waits, copies, collectives, operations and bytes.
#include "compare/counters.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/accounting/syncs.h"
#include "analysis/operators/peak_memory.h"
#include "analysis/operators/torch_flops.h"
#include "analysis/structure/compilation_names.h"
#include "analysis/structure/from_outside.h"
#include "compare/collective_bytes.h"

namespace fathom {
namespace {

class CounterSums {
 public:
  CounterSums(const Context& context, const TorchNames& names, const StepWindows& windows,
              std::int32_t device)
      : context_(context),
        trace_(context.trace),
        windows_(windows),
        device_(device),
        names_(names),
        compiles_(trace_.strings.size()),
        compiled_(trace_.strings.size()) {
    for (std::size_t row = 0; row < compiles_.size(); ++row) {
      const std::string_view name = trace_.strings.view(StringId(row));
      compiles_[row] = is_compiling_range(name);
      compiled_[row] = name.starts_with("Torch-Compiled Region");
    }
    pieces_around_.resize(trace_.slices.size());
  }

  std::vector<Counter> collect() {
    for (const Nesting::Thread& thread : context_.nesting().work) {
      for (const SliceId slice : thread.slices) add_host(slice);
    }
    add("operator_calls", "operator calls", operators_);
    if (device_ >= 0) {
      add("kernel_launches", "kernel launches", launches_);
      add("synchronizations", "synchronizations", syncs());
      add_activities();
    } else {
      add("collectives", "collectives", host_collectives_);
    }
    if (const auto bytes = collective_bytes(context_, windows_, device_))
      add("collective_bytes", "bytes given to collectives", *bytes, "bytes");
    if (flops_ > 0 && !flops_missing_) add("flops", "floating-point operations", flops_, "flops");
    add("compilations", "compilations", compilations_);
    if (compiled_pieces_ > 0) add("graph_breaks", "graph breaks", graph_breaks_);
    add_peaks();
    return std::move(counters_);
  }

 private:
  void add(std::string_view id, std::string_view title, std::int64_t value,
           std::string_view unit = "count") {
    counters_.push_back({.id = std::string(id),
                         .title = std::string(title),
                         .unit = std::string(unit),
                         .value = value});
  }

  void add_host(SliceId slice) {
    if (!windows_.holds(trace_.slices.start[slice.row()])) return;
    const SliceKind kind = trace_.kind(slice);
    const SliceId parent = context_.nesting().parent[slice.row()];
    const bool outermost_collective =
        context_.phases()[slice] == Phase::communication &&
        (!parent.valid() || context_.phases()[parent] != Phase::communication);
    host_collectives_ += outermost_collective ? 1 : 0;
    if (compiles(slice) && !(parent.valid() && compiles(parent))) ++compilations_;
    if (is_piece(slice)) add_piece(parent);
    if (kind == SliceKind::cpu_op) {
      ++operators_;
      add_flops(slice);
    } else if (is_runtime_call(kind)) {
      const CallKind call = context_.links().call_kind(trace_, slice);
      launches_ += call == CallKind::launch || call == CallKind::graph_launch ? 1 : 0;
    }
  }

  [[nodiscard]] bool compiles(SliceId slice) const {
    return compiles_[trace_.slices.name[slice.row()].row()];
  }

  [[nodiscard]] bool is_piece(SliceId slice) const {
    return compiled_[trace_.slices.name[slice.row()].row()];
  }

  /// What goes on after a graph break is called from the compiled piece before it, inside of it.
  void add_piece(SliceId parent) {
    ++compiled_pieces_;
    const bool inside =
        parent.valid() &&
        innermost_around(pieces_around_, context_.nesting().parent, parent, [this](SliceId at) {
          return is_piece(at);
        }).valid();
    graph_breaks_ += inside ? 1 : 0;
  }

  void add_flops(SliceId op) {
    const FlopsFormula formula = names_[trace_.slices.name[op.row()]].formula;
    if (formula == FlopsFormula::none) return;
    const std::uint32_t detail = trace_.slices.detail[op.row()];
    const SignatureId signature =
        detail == SliceId::kNone ? SignatureId() : trace_.ops.signature[detail];
    if (!signature.valid()) {
      flops_missing_ = true;
      return;
    }
    const auto [at, added] = known_flops_.try_emplace(std::uint64_t{signature.value} << 8U |
                                                      static_cast<std::uint64_t>(formula));
    if (added) {
      const Signature& inputs = trace_.signatures[signature.row()];
      at->second =
          torch_flops(formula, text(inputs.shapes), text(inputs.types), text(inputs.concrete));
    }
    flops_missing_ = flops_missing_ || !at->second;
    flops_ += static_cast<std::int64_t>(at->second.value_or(0));
  }

  [[nodiscard]] std::string_view text(StringId id) const {
    return id.valid() ? trace_.text(id) : std::string_view();
  }

  [[nodiscard]] std::int64_t syncs() const {
    const std::vector<SyncCall> calls = compute_syncs(context_);
    return std::ranges::count_if(calls, [this](const SyncCall& sync) {
      return windows_.holds(trace_.slices.start[sync.call.row()]);
    });
  }

  void add_activities() {
    std::int64_t kernels = 0;
    std::int64_t copies = 0;
    std::int64_t bytes = 0;
    std::int64_t collectives = 0;
    const DeviceTimeline* const timeline = context_.timelines().find(device_);
    for (const SliceId activity : timeline->activities) {
      if (!windows_.holds(trace_.slices.start[activity.row()])) continue;
      const Busy kind = context_.timelines().busy_kind(trace_, activity);
      kernels += trace_.kind(activity) == SliceKind::kernel ? 1 : 0;
      collectives += kind == Busy::communication ? 1 : 0;
      if (kind != Busy::memcpy) continue;
      ++copies;
      const std::uint32_t detail = trace_.slices.detail[activity.row()];
      const bool copy = trace_.kind(activity) == SliceKind::memcpy && detail != SliceId::kNone;
      const std::int64_t recorded = copy ? trace_.copies.bytes[detail] : kAbsent;
      if (recorded != kAbsent) bytes += recorded;
    }
    add("kernels", "kernels", kernels);
    add("copies", "copies", copies);
    add("copied_bytes", "copied bytes", bytes, "bytes");
    add("collectives", "collectives", collectives);
  }

  void add_peaks() {
    const PeakMemory memory = compute_peak_memory(context_);
    const PeakMemory::Peak* const peak = memory.of(device_);
    if (peak == nullptr || peak->allocated == kAbsent) return;
    add("peak_allocated_bytes", "peak allocated bytes", peak->allocated, "bytes");
    counters_.back().per_step = false;
  }

  const Context& context_;
  const Trace& trace_;
  const StepWindows& windows_;
  std::int32_t device_;
  const TorchNames& names_;
  std::vector<bool> compiles_;  // by name
  std::vector<bool> compiled_;
  FromOutside pieces_around_;
  std::unordered_map<std::uint64_t, std::optional<std::uint64_t>> known_flops_;
  std::int64_t operators_ = 0;
  std::int64_t launches_ = 0;
  std::int64_t host_collectives_ = 0;
  std::int64_t compilations_ = 0;
  std::int64_t compiled_pieces_ = 0;
  std::int64_t graph_breaks_ = 0;
  std::int64_t flops_ = 0;
  bool flops_missing_ = false;
  std::vector<Counter> counters_;
};

}  // namespace

std::vector<Counter> collect_counters(const Context& context, const TorchNames& names,
                                      const StepWindows& windows, std::int32_t device) {
  return CounterSums(context, names, windows, device).collect();
}

}  // namespace fathom
