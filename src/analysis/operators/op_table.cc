// Sums host events into the rows of the operator table.
#include "analysis/operators/op_table.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/operators/op_device.h"
#include "analysis/operators/op_rows.h"
#include "analysis/operators/torch_flops.h"
#include "analysis/structure/program_ranges.h"
#include "analysis/util/row_order.h"
#include "base/parallel.h"

namespace fathom {
namespace {

/// Sums the events of one stretch of a thread at a time; one per worker.
class HostSums {
 public:
  /// `inside` is shared by all: a difference array over the sorted allocator events, one longer
  /// than these, of how many host events contain each.
  HostSums(const OpDeviceInput& input, const OperatorMemory& memory, std::span<std::int32_t> inside)
      : input_(input),
        trace_(input.context.trace),
        memory_(memory),
        selector_(input.context.selector()),
        flops_by_signature_(trace_.signatures.size()),
        rows_(input.names.size(), !input.groups.of.empty()),
        inside_(inside) {}

  void add(SliceId slice) {
    if (!input_.forest.is_counted(slice)) return;
    const Time start = trace_.slices.start[slice.row()];
    const Duration duration = trace_.slices.duration[slice.row()];
    const MemoryBytes bytes = bytes_during(start, start + duration);
    const bool asynchronous = input_.forest.is_asynchronous(slice);
    if (selector_.time(start)) add_own(slice, duration, bytes, asynchronous);
    const SliceId parent = input_.forest.parent(slice);
    if (!parent.valid() || !selector_.time(trace_.slices.start[parent.row()])) return;
    OpRow& above = rows_.row(host_row(input_, rows_, parent));
    above.host_self -= duration;
    above.memory_self = above.memory_self - bytes;
  }

  OpRows& rows() { return rows_; }

 private:
  void add_own(SliceId slice, Duration duration, MemoryBytes bytes, bool asynchronous) {
    OpRow& row = rows_.row(host_row(input_, rows_, slice));
    if (row.calls++ == 0 || is_before(slice, row.first)) row.first = slice;
    row.host_total += duration;
    row.memory += bytes;
    if (!asynchronous) {
      row.host_self += duration;
      row.memory_self += bytes;
    }
    add_flops(slice, row);
  }

  [[nodiscard]] bool is_before(SliceId a, SliceId b) const {
    if (!b.valid()) return true;
    const auto key = [this](SliceId slice) {
      return std::tuple(trace_.slices.start[slice.row()], -trace_.slices.duration[slice.row()],
                        slice);
    };
    return key(a) < key(b);
  }

  MemoryBytes bytes_during(Time start, Time end) {
    if (memory_.size() == 0) return {};
    const OperatorMemory::Range range = memory_.during(start, end, hint_);
    hint_ = range.first;
    if (range.first == range.last) return {};
    std::atomic_ref(inside_[range.first]).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(inside_[range.last]).fetch_sub(1, std::memory_order_relaxed);
    return memory_.sum(range);
  }

  void add_flops(SliceId slice, OpRow& row) {
    const FlopsFormula formula = input_.names[trace_.slices.name[slice.row()]].formula;
    if (formula == FlopsFormula::none) return;
    const std::optional<std::uint64_t> flops = flops_of(slice, formula);
    row.flops += flops.value_or(0);
    row.flops_missing |= !flops;
  }

  std::optional<std::uint64_t> flops_of(SliceId slice, FlopsFormula formula) {
    const std::uint32_t detail = trace_.slices.detail[slice.row()];
    const SliceKind kind = trace_.kind(slice);
    if (detail == SliceId::kNone ||
        (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation)) {
      return std::nullopt;
    }
    const SignatureId signature = trace_.ops.signature[detail];
    if (!signature.valid()) return std::nullopt;
    Flops& known = flops_by_signature_[signature.row()];
    if (known.formula != formula) {
      const Signature& inputs = trace_.signatures[signature.row()];
      known.formula = formula;
      known.value = torch_flops(formula, trace_.text(inputs.shapes), trace_.text(inputs.types),
                                trace_.text(inputs.concrete));
    }
    return known.value;
  }

  struct Flops {
    FlopsFormula formula = FlopsFormula::none;
    std::optional<std::uint64_t> value;
  };

  const OpDeviceInput& input_;
  const Trace& trace_;
  const OperatorMemory& memory_;
  Selector selector_;
  std::vector<Flops> flops_by_signature_;
  OpRows rows_;
  std::span<std::int32_t> inside_;
  std::size_t hint_ = 0;
};

/// Adds the sums of one worker to those of another.
void merge(const OpDeviceInput& input, OpRows& from, OpRows& into) {
  const Slices& slices = input.context.trace.slices;
  const auto key = [&](SliceId slice) {
    return std::tuple(slices.start[slice.row()], -slices.duration[slice.row()], slice);
  };
  for (std::size_t i = 0; i < from.size(); ++i) {
    const OpRow& part = from.row(i);
    OpRow& row = into.row(into.index_of(from.name_of(i), part.kind, part.group));
    if (part.first.valid() && (!row.first.valid() || key(part.first) < key(row.first)))
      row.first = part.first;
    row.calls += part.calls;
    row.host_total += part.host_total;
    row.host_self += part.host_self;
    row.memory += part.memory;
    row.memory_self += part.memory_self;
    row.flops += part.flops;
    row.flops_missing |= part.flops_missing;
  }
}

/// Stretches of the threads' slices, so that several workers share a long thread.
std::vector<std::span<const SliceId>> stretches_of(const Nesting& nesting) {
  constexpr std::size_t kStretch = 1 << 17;
  std::vector<std::span<const SliceId>> out;
  for (const auto* threads : {&nesting.work, &nesting.rest}) {
    for (const Nesting::Thread& thread : *threads) {
      for (std::size_t begin = 0; begin < thread.slices.size(); begin += kStretch) {
        const std::size_t length = std::min(kStretch, thread.slices.size() - begin);
        out.push_back(std::span(thread.slices).subspan(begin, length));
      }
    }
  }
  return out;
}

/// One row for the allocator events of the selected time that no host event contains.
void add_orphans(const OpDeviceInput& input, const OperatorMemory& memory,
                 const std::vector<std::int32_t>& inside, std::vector<OpRow>& rows) {
  const Selector selector = input.context.selector();
  OpRow row{.name = "[memory]", .kind = OpRowKind::memory};
  std::int64_t depth = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    depth += inside[i];
    if (depth > 0 || !selector.time(memory.time(i))) continue;
    ++row.calls;
    row.memory += memory.sum({i, i + 1});
  }
  row.memory_self = row.memory;
  if (row.calls > 0) rows.push_back(row);
}

OpRows sum_host_events(const OpDeviceInput& input, const OperatorMemory& memory,
                       std::vector<std::int32_t>& inside) {
  const auto stretches = stretches_of(input.context.nesting());
  const bool large = input.context.trace.slices.size() > kWorthThreads;
  const std::size_t most = large ? parallel_threads() : 1;
  const std::size_t workers = std::clamp<std::size_t>(stretches.size(), 1, most);
  std::vector<HostSums> sums;
  sums.reserve(workers);
  inside.assign(memory.size() + 1, 0);
  for (std::size_t i = 0; i < workers; ++i) sums.emplace_back(input, memory, inside);
  std::atomic<std::size_t> next = 0;
  for_each_in_parallel(workers, static_cast<unsigned>(workers), [&](std::size_t worker) {
    for (std::size_t i = next++; i < stretches.size(); i = next++) {
      for (const SliceId slice : stretches[i]) sums[worker].add(slice);
    }
  });
  for (; sums.size() > 1; sums.pop_back()) merge(input, sums.back().rows(), sums[0].rows());
  return std::move(sums[0].rows());
}

/// torch knows whether a row is asynchronous from its first event; rows stand in the order of
/// those.
void finish_rows(const OpDeviceInput& input, OpTable& table) {
  const Slices& slices = input.context.trace.slices;
  const auto key = [&](const OpRow& row) {
    if (!row.first.valid()) return std::tuple(Time::max(), Duration(), row.first);
    return std::tuple(slices.start[row.first.row()], -slices.duration[row.first.row()], row.first);
  };
  std::vector<std::uint32_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), 0U);
  sort_rows(std::span(order), [&](std::uint32_t a, std::uint32_t b) {
    return key(table.rows[a]) < key(table.rows[b]);
  });
  arrange(std::span(table.rows), std::move(order));
  for (OpRow& row : table.rows) {
    const bool host = row.kind == OpRowKind::host || row.kind == OpRowKind::annotation;
    row.asynchronous = host && row.first.valid() && input.forest.is_asynchronous(row.first);
    table.host_self_sum += row.host_self;
  }
}

}  // namespace

OpTable compute_op_table(const Context& context, OpGrouping grouping, OpRules rules) {
  OpTable table{.names = TorchNames(context.trace)};
  const TorchForest forest(context.trace, context.nesting(), table.names);
  OpGroups groups = compute_op_groups(context, forest, table.names, grouping);
  const std::vector<bool> ranges = rules == OpRules::own
                                       ? ranges_among_operators(context.trace, context.nesting())
                                       : std::vector<bool>();
  const OpDeviceInput input{context, table.names, forest, groups, ranges};
  const OperatorMemory memory(context.trace);
  table.has_memory = memory.size() > 0;
  std::vector<std::int32_t> inside;
  OpRows rows = sum_host_events(input, memory, inside);
  DeviceRemainder remainder;
  if (rules == OpRules::torch) {
    table.device_self_sum = add_torch_device_time(input, rows);
  } else {
    remainder = add_device_time(input, rows);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows.row(i).name = table.names.text(rows.name_of(i));
  table.rows = rows.take();
  add_orphans(input, memory, inside, table.rows);
  finish_rows(input, table);
  if (rules == OpRules::own) {
    if (remainder.no_operator_count != 0) {
      table.rows.push_back({.name = "(no operator)",
                            .kind = OpRowKind::no_operator,
                            .calls = remainder.no_operator_count,
                            .device_total = remainder.no_operator,
                            .device_self = remainder.no_operator});
    }
    if (remainder.unattributed_count != 0) {
      table.rows.push_back({.name = "(unattributed)",
                            .kind = OpRowKind::unattributed,
                            .calls = remainder.unattributed_count,
                            .device_total = remainder.unattributed,
                            .device_self = remainder.unattributed});
    }
    for (const OpRow& row : table.rows) table.device_self_sum += row.device_self;
  }
  table.groups = std::move(groups.texts);
  return table;
}

}  // namespace fathom
