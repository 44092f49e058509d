// Numbers of the fields of Perfetto's trace format that are written, as protos/perfetto/trace/ of
// github.com/google/perfetto gives them (at ec5d16b14b74).
#pragma once

#include <cstdint>

namespace fathom::perfetto {

/// trace.proto, Trace.
inline constexpr std::uint32_t kTracePacket = 1;

/// trace_packet.proto, TracePacket.
namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequence = 10;  // trusted_packet_sequence_id
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED
inline constexpr std::uint64_t kNeedsState = 2;    // SEQ_NEEDS_INCREMENTAL_STATE
}  // namespace packet

/// clock_snapshot.proto, ClockSnapshot and Clock; common/builtin_clock.proto.
namespace clock {
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kPrimary = 2;
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kTime = 2;
inline constexpr std::uint64_t kRealtime = 1;
inline constexpr std::uint64_t kBoottime = 6;
}  // namespace clock

/// track_event/track_descriptor.proto, TrackDescriptor.
namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParent = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kChildOrdering = 11;
inline constexpr std::uint32_t kRank = 12;  // sibling_order_rank
inline constexpr std::uint64_t kExplicit = 3;
}  // namespace track

/// track_event/process_descriptor.proto and thread_descriptor.proto.
namespace process {
inline constexpr std::uint32_t kPid = 1;
inline constexpr std::uint32_t kSortIndex = 3;
inline constexpr std::uint32_t kName = 6;
inline constexpr std::uint32_t kLabels = 8;
}  // namespace process
namespace thread {
inline constexpr std::uint32_t kPid = 1;
inline constexpr std::uint32_t kTid = 2;
inline constexpr std::uint32_t kSortIndex = 3;
inline constexpr std::uint32_t kName = 5;
}  // namespace thread

/// track_event/counter_descriptor.proto, CounterDescriptor.
namespace counter {
inline constexpr std::uint32_t kUnit = 3;
inline constexpr std::uint32_t kUnitName = 6;
inline constexpr std::uint64_t kUnitNs = 1;
inline constexpr std::uint64_t kUnitBytes = 3;
}  // namespace counter

/// track_event/track_event.proto, TrackEvent.
namespace event {
inline constexpr std::uint32_t kCategory = 3;  // category_iids
inline constexpr std::uint32_t kArgument = 4;  // debug_annotations
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kName = 10;  // name_iid
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kReal = 44;             // double_counter_value
inline constexpr std::uint32_t kFlow = 47;             // flow_ids
inline constexpr std::uint32_t kTerminatingFlow = 48;  // terminating_flow_ids
inline constexpr std::uint64_t kBegin = 1;
inline constexpr std::uint64_t kEnd = 2;
inline constexpr std::uint64_t kInstant = 3;
inline constexpr std::uint64_t kCounterValue = 4;
}  // namespace event

/// track_event/debug_annotation.proto, DebugAnnotation.
namespace argument {
inline constexpr std::uint32_t kName = 1;  // name_iid
inline constexpr std::uint32_t kInteger = 4;
inline constexpr std::uint32_t kReal = 5;
inline constexpr std::uint32_t kText = 6;
inline constexpr std::uint32_t kTextId = 17;  // string_value_iid
}  // namespace argument

/// interned_data/interned_data.proto, InternedData; its entries are {iid = 1, text = 2}.
namespace interned {
inline constexpr std::uint32_t kCategory = 1;
inline constexpr std::uint32_t kEventName = 2;
inline constexpr std::uint32_t kArgumentName = 3;
inline constexpr std::uint32_t kArgumentText = 29;
inline constexpr std::uint32_t kId = 1;
inline constexpr std::uint32_t kText = 2;
}  // namespace interned

}  // namespace fathom::perfetto
