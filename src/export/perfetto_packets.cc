// Writes Perfetto packets and interns their names.
#include "export/perfetto_packets.h"

#include <algorithm>

#include "export/perfetto_fields.h"

namespace fathom::perfetto {
namespace {

constexpr std::uint64_t kSequenceId = 1;

std::int64_t earliest(const Trace& trace) {
  Time first = trace.span.begin;
  for (const Column<Time>* times :
       {&trace.slices.start, &trace.samples.time, &trace.instants.time, &trace.memory.time}) {
    for (const Time time : *times) first = std::min(first, time);
  }
  return to_ns(first);
}

}  // namespace

Packets::Packets(const Trace& trace, WriteBuffer& out)
    : trace_(trace),
      out_(out),
      shift_(static_cast<std::uint64_t>(trace.origin_ns)),
      name_seen_(trace.strings.size()),
      text_seen_(trace.strings.size()),
      category_seen_(trace.categories.size()) {
  const std::int64_t first = earliest(trace);
  // A clock that began after the trace did: the trace's first moment is zero.
  if (trace.origin_ns < 0 || (first < 0 && trace.origin_ns < -first))
    shift_ = 0 - static_cast<std::uint64_t>(first);
  start();
}

std::uint64_t Packets::time_of(Time time) const {
  return static_cast<std::uint64_t>(to_ns(time)) + shift_;
}

bool Packets::first(std::vector<bool>& seen, std::size_t row) {
  if (seen[row]) return false;
  seen[row] = true;
  return true;
}

void Packets::open_packet(std::uint64_t flags) {
  packet_.clear();
  names_.clear();
  packet_mark_ = packet_.begin(kTracePacket);
  packet_.varint(packet::kSequence, kSequenceId);
  if (flags != 0) packet_.varint(packet::kSequenceFlags, flags);
}

void Packets::close_packet() {
  if (!names_.bytes().empty()) packet_.text(packet::kInternedData, names_.bytes());
  packet_.end(packet_mark_);
  out_.text(packet_.bytes());
}

void Packets::start() {
  open_packet(packet::kStateCleared);
  if (trace_.origin_is_unix) {
    const std::uint64_t now = time_of(trace_.span.begin);
    packet_.varint(packet::kTimestamp, now);
    const ProtoMessage::Mark snapshot = packet_.begin(packet::kClockSnapshot);
    for (const std::uint64_t id : {clock::kBoottime, clock::kRealtime}) {
      const ProtoMessage::Mark one = packet_.begin(clock::kClocks);
      packet_.varint(clock::kId, id);
      packet_.varint(clock::kTime, now);
      packet_.end(one);
    }
    packet_.varint(clock::kPrimary, clock::kBoottime);
    packet_.end(snapshot);
  }
  close_packet();
}

void Packets::begin_event(std::uint64_t type, std::uint64_t track, Time time) {
  open_packet(packet::kNeedsState);
  packet_.varint(packet::kTimestamp, time_of(time));
  event_mark_ = packet_.begin(packet::kTrackEvent);
  packet_.varint(event::kType, type);
  packet_.varint(event::kTrack, track);
}

void Packets::end_event() {
  packet_.end(event_mark_);
  close_packet();
}

void Packets::intern(std::uint32_t field, std::uint64_t id, std::string_view text) {
  const ProtoMessage::Mark entry = names_.begin(field);
  names_.varint(interned::kId, id);
  names_.text(interned::kText, text);
  names_.end(entry);
}

void Packets::name(StringId name) {
  const std::uint64_t id = std::uint64_t{name.value} + 1;
  packet_.varint(event::kName, id);
  if (first(name_seen_, name.row())) intern(interned::kEventName, id, trace_.text(name));
}

void Packets::category(std::uint8_t row) {
  const std::string_view text = trace_.text(trace_.categories[row].name);
  if (text.empty()) return;
  const std::uint64_t id = std::uint64_t{row} + 1;
  packet_.varint(event::kCategory, id);
  if (first(category_seen_, row)) intern(interned::kCategory, id, text);
}

void Packets::flow(std::uint64_t id, bool ends) {
  packet_.fixed64(ends ? event::kTerminatingFlow : event::kFlow, id);
}

void Packets::value(double value) { packet_.real(event::kReal, value); }

ProtoMessage::Mark Packets::open_argument(std::string_view key) {
  // Nearly all keys are literals: their address identifies them.
  auto& [address, id] =
      recent_keys_[(reinterpret_cast<std::uintptr_t>(key.data()) >> 3U) % recent_keys_.size()];
  if (address != key.data() || id == 0 || key_sizes_[id] != key.size()) {
    const auto [at, added] = keys_.try_emplace(key, keys_.size() + 1);
    if (added) {
      intern(interned::kArgumentName, at->second, key);
      key_sizes_.push_back(key.size());
    }
    address = key.data();
    id = at->second;
  }
  const ProtoMessage::Mark mark = packet_.begin(event::kArgument);
  packet_.varint(argument::kName, id);
  return mark;
}

void Packets::integer(std::string_view key, std::int64_t value) {
  const ProtoMessage::Mark mark = open_argument(key);
  packet_.varint(argument::kInteger, static_cast<std::uint64_t>(value));
  packet_.end(mark);
}

void Packets::real(std::string_view key, double value) {
  const ProtoMessage::Mark mark = open_argument(key);
  packet_.real(argument::kReal, value);
  packet_.end(mark);
}

void Packets::text(std::string_view key, StringId value) {
  const ProtoMessage::Mark mark = open_argument(key);
  const std::uint64_t id = std::uint64_t{value.value} + 1;
  packet_.varint(argument::kTextId, id);
  packet_.end(mark);
  if (first(text_seen_, value.row())) intern(interned::kArgumentText, id, trace_.text(value));
}

void Packets::sizes(std::string_view key, const std::array<std::int32_t, 3>& value) {
  const ProtoMessage::Mark mark = open_argument(key);
  packet_.text(argument::kText, "[" + std::to_string(value[0]) + "," + std::to_string(value[1]) +
                                    "," + std::to_string(value[2]) + "]");
  packet_.end(mark);
}

}  // namespace fathom::perfetto
