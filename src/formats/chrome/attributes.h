// The attributes of trace events ("args"): which are read, into which column, and under which key.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "store/trace.h"

namespace fathom::chrome {

/// What the args of one event said.
struct EventArgs {
  Slices::Row slice;
  struct Place {
    std::int64_t device = kAbsent;
    std::int64_t stream = kAbsent;
  } place;
  Signature signature;
  Ops::Row op;
  LaunchConfig config;
  Kernels::Row kernel;
  Copies::Row copy;
  Frames::Row frame;
  Syncs::Row sync;
  Collective collective;
  MemoryEvents::Row memory;
  struct Names {
    StringId name;
    StringId labels;
    std::int64_t sort_index = kAbsent;
  } names;  ///< Of a metadata event.

  bool has_op = false;          ///< Something of `op` or `signature` was there.
  bool has_collective = false;  ///< "Collective name" was there.
};

/// How a text is written in JSON.
enum class Form : std::uint8_t {
  text,          ///< A string.
  json,          ///< Any value: kept as canonical JSON.
  text_or_json,  ///< A string, else as json.
  text_only,     ///< A string; anything else is left out.
};

/// An attribute: the value of `key` is the `field` of a `part`.
template <typename Part, typename Value>
struct Attribute {
  std::string_view key;
  Part EventArgs::*part;
  Value Part::*field;
  Form form = Form::text;
};
template <typename Part, typename Value>
Attribute(const char*, Part EventArgs::*, Value Part::*) -> Attribute<Part, Value>;
template <typename Part, typename Value>
Attribute(const char*, Part EventArgs::*, Value Part::*, Form) -> Attribute<Part, Value>;

/// Every attribute that is read, as Kineto spells it; those of a part in the order in which they
/// are written. A row here and a field in store/trace.h make a new one.
inline constexpr auto kAttributes = std::tuple{
    Attribute{"External id", &EventArgs::slice, &Slices::Row::external_id},
    Attribute{"correlation", &EventArgs::slice, &Slices::Row::correlation},
    Attribute{"device", &EventArgs::place, &EventArgs::Place::device},
    Attribute{"stream", &EventArgs::place, &EventArgs::Place::stream},
    // Operators and annotations.
    Attribute{"Concrete Inputs", &EventArgs::signature, &Signature::concrete, Form::json},
    Attribute{"Input type", &EventArgs::signature, &Signature::types, Form::json},
    Attribute{"Input Strides", &EventArgs::signature, &Signature::strides, Form::json},
    Attribute{"Input Dims", &EventArgs::signature, &Signature::shapes, Form::json},
    Attribute{"Sequence number", &EventArgs::op, &Ops::Row::sequence},
    Attribute{"Fwd thread id", &EventArgs::op, &Ops::Row::forward_thread},
    Attribute{"flops", &EventArgs::op, &Ops::Row::flops},
    Attribute{"Call stack", &EventArgs::op, &Ops::Row::stack},
    Attribute{"Module Hierarchy", &EventArgs::op, &Ops::Row::module},
    // Kernels.
    Attribute{"registers per thread", &EventArgs::config, &LaunchConfig::registers},
    Attribute{"shared memory", &EventArgs::config, &LaunchConfig::shared_memory},
    Attribute{"blocks per SM", &EventArgs::config, &LaunchConfig::blocks_per_sm},
    Attribute{"warps per SM", &EventArgs::config, &LaunchConfig::warps_per_sm},
    Attribute{"grid", &EventArgs::config, &LaunchConfig::grid},
    Attribute{"block", &EventArgs::config, &LaunchConfig::block},
    Attribute{"est. achieved occupancy %", &EventArgs::config, &LaunchConfig::occupancy_percent},
    Attribute{"graph node id", &EventArgs::kernel, &Kernels::Row::graph_node},
    // Copies and fills.
    Attribute{"bytes", &EventArgs::copy, &Copies::Row::bytes},
    // Python frames.
    Attribute{"Python id", &EventArgs::frame, &Frames::Row::id},
    Attribute{"Python parent id", &EventArgs::frame, &Frames::Row::parent},
    Attribute{"Python module id", &EventArgs::frame, &Frames::Row::module_id},
    // Waits.
    Attribute{"cuda_sync_kind", &EventArgs::sync, &Syncs::Row::kind},
    Attribute{"wait_on_stream", &EventArgs::sync, &Syncs::Row::wait_stream},
    Attribute{"wait_on_cuda_event_id", &EventArgs::sync, &Syncs::Row::wait_event},
    Attribute{"wait_on_cuda_event_record_corr_id", &EventArgs::sync, &Syncs::Row::wait_correlation},
    // Communication.
    Attribute{"Collective name", &EventArgs::collective, &Collective::name},
    Attribute{"dtype", &EventArgs::collective, &Collective::dtype},
    Attribute{"In msg nelems", &EventArgs::collective, &Collective::in_elements},
    Attribute{"Out msg nelems", &EventArgs::collective, &Collective::out_elements},
    Attribute{"Group size", &EventArgs::collective, &Collective::group_size},
    Attribute{"Process Group Name", &EventArgs::collective, &Collective::group_name},
    Attribute{"Process Group Description", &EventArgs::collective, &Collective::group_description},
    Attribute{"Process Group Ranks", &EventArgs::collective, &Collective::ranks,
              Form::text_or_json},
    Attribute{"Seq", &EventArgs::collective, &Collective::sequence},
    // Allocator events.
    Attribute{"Total Reserved", &EventArgs::memory, &MemoryEvents::Row::total_reserved},
    Attribute{"Total Allocated", &EventArgs::memory, &MemoryEvents::Row::total_allocated},
    Attribute{"Bytes", &EventArgs::memory, &MemoryEvents::Row::bytes},
    Attribute{"Addr", &EventArgs::memory, &MemoryEvents::Row::address},
    Attribute{"Device Id", &EventArgs::memory, &MemoryEvents::Row::device},
    Attribute{"Device Type", &EventArgs::memory, &MemoryEvents::Row::device_type},
    // Metadata events.
    Attribute{"name", &EventArgs::names, &EventArgs::Names::name, Form::text_only},
    Attribute{"labels", &EventArgs::names, &EventArgs::Names::labels, Form::text_only},
    Attribute{"sort_index", &EventArgs::names, &EventArgs::Names::sort_index},
};
inline constexpr std::size_t kAttributeCount = std::tuple_size_v<decltype(kAttributes)>;

/// Calls visit(attribute) for each attribute of a part, e.g. of Kernels::Row.
template <typename Part>
constexpr void each_attribute_of(auto&& visit) {
  const auto one = [&visit]<typename P, typename Value>(const Attribute<P, Value>& attribute) {
    if constexpr (std::is_same_v<P, Part>) visit(attribute);
  };
  std::apply([&one](const auto&... attribute) { (one(attribute), ...); }, kAttributes);
}

/// Other spellings of the keys above.
struct OtherSpelling {
  std::string_view text;
  std::string_view key;
};
inline constexpr auto kOtherSpellings = std::to_array<OtherSpelling>({
    {"external id", "External id"},
    {"correlationId", "correlation"},
    {"Input dims", "Input Dims"},
    {"Flops", "flops"},
    {"theoretical occupancy %", "est. achieved occupancy %"},
});

/// Known, of no use to any analysis so far.
inline constexpr auto kAttributesNotRead = std::to_array<std::string_view>({
    "Ev Idx",
    "Trace name",
    "Trace iteration",
    "Profiler Event Index",
    "Record function id",
    "cbid",
    "cid",
    "queued",
    "context",
    "Device",
    "external ts",
    "memory bandwidth (GB/s)",
    "Input names",
    "Output dims",
    "Output type",
    "Output names",
    "Extra arguments",
    "Op count",
    "finished",
    "priority",
    "scope",
    "Python thread",
    "Backend",
    "CallFrom",
    "In split size",
    "Out split size",
    "Global rank start",
    "Global rank stride",
    "Process Group ID",
    "Rank",
    "Src Rank",
    "Dst Rank",
    "Input Tensors start",
    "Output Tensors start",
    "Is asynchronized op",
    "Comms Id",
    "occupancy",
    "activeBlocksPerMultiprocessor",
    "allocatedRegistersPerBlock",
    "allocatedSharedMemPerBlock",
    "blockLimitBarriers",
    "blockLimitBlocks",
    "blockLimitRegs",
    "blockLimitSharedMem",
    "blockLimitWarps",
    "limitingFactors",
    "channel",
    "channel_type",
    "event_id",
    "fromContext",
    "fromDevice",
    "inContext",
    "inDevice",
    "toContext",
    "toDevice",
    "graph id",
    "hsa_queue",
    "kernel",
    "kind",
    "ptr",
    "src",
    "dst",
    "size",
    "sycl queue",
    "sycl_node_id",
    "sycl_invocation_id",
    "kernel_id",
    "overhead cost",
    "overhead count",
    "kernel_hash",
    "kernel_file",
    "kernel_backend",
    "kernel_name",
    "kernel_kwargs",
    "num_warps",
    "num_stages",
});

}  // namespace fathom::chrome
