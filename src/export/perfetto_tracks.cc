// Chooses the Perfetto track of each track of a trace.
#include "export/perfetto_tracks.h"

#include <algorithm>
#include <limits>

#include "export/perfetto_fields.h"

namespace fathom::perfetto {
namespace {

constexpr std::int64_t kLastPid = std::numeric_limits<std::int32_t>::max();

/// Sort indexes are 32 bits wide there.
std::uint64_t sort_index(std::int64_t index) {
  return static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(index, std::numeric_limits<std::int32_t>::min(), kLastPid));
}

}  // namespace

Tracks::Tracks(const Trace& trace, Packets& packets) : trace_(trace), packets_(packets) {
  describe_processes();
}

/// A device's rows are no process of the machine, though Kineto gives them a number like one.
void Tracks::describe_processes() {
  std::map<std::uint32_t, std::int64_t> hosts;
  for (const Track& track : trace_.tracks) {
    if (track.kind != TrackKind::device_stream && track.pid > 0 && track.pid <= kLastPid)
      hosts.emplace(track.process.value, track.pid);
  }
  for (const Process& process : trace_.processes) {
    const auto host = hosts.find(process.id.value);
    if (host == hosts.end()) continue;
    const std::uint64_t uuid = next_++;
    processes_.emplace(process.id.value, uuid);
    pids_.emplace(host->second, uuid);
    packets_.descriptor([&](ProtoMessage& out) {
      out.varint(track::kUuid, uuid);
      const ProtoMessage::Mark mark = out.begin(track::kProcess);
      out.varint(process::kPid, static_cast<std::uint64_t>(host->second));
      if (!trace_.text(process.name).empty()) out.text(process::kName, trace_.text(process.name));
      if (!trace_.text(process.labels).empty())
        out.text(process::kLabels, trace_.text(process.labels));
      if (process.sort_index != kAbsent)
        out.varint(process::kSortIndex, sort_index(process.sort_index));
      out.end(mark);
      out.varint(track::kChildOrdering, track::kExplicit);
    });
  }
}

/// 0 where the track lies in no process.
std::uint64_t Tracks::process_of(const Track& track) const {
  const auto at = processes_.find(track.process.value);
  return at == processes_.end() ? 0 : at->second;
}

std::uint64_t Tracks::device_group(std::int32_t device) {
  const auto [at, added] = devices_.try_emplace(device, next_);
  if (!added) return at->second;
  const std::uint64_t uuid = next_++;
  packets_.descriptor([&](ProtoMessage& out) {
    out.varint(track::kUuid, uuid);
    out.text(track::kName, "GPU " + std::to_string(device));
    out.varint(track::kChildOrdering, track::kExplicit);
    out.varint(track::kRank, static_cast<std::uint64_t>(device));
  });
  return uuid;
}

std::string Tracks::stream_name(const Track& track) const {
  std::string_view name = trace_.text(track.name);
  while (name.ends_with(' ')) name.remove_suffix(1);  // Kineto's "stream 7 "
  if (!name.empty()) return std::string(name);
  const std::string_view thread = trace_.text(track.thread);
  return thread.starts_with("stream") ? std::string(thread) : "stream " + std::string(thread);
}

void Tracks::describe_thread(const Track& track, std::uint64_t uuid) {
  packets_.descriptor([&](ProtoMessage& out) {
    out.varint(track::kUuid, uuid);
    const ProtoMessage::Mark mark = out.begin(track::kThread);
    out.varint(thread::kPid, static_cast<std::uint64_t>(track.pid));
    out.varint(thread::kTid, static_cast<std::uint64_t>(track.tid));
    if (!trace_.text(track.name).empty()) out.text(thread::kName, trace_.text(track.name));
    if (track.sort_index != kAbsent) out.varint(thread::kSortIndex, sort_index(track.sort_index));
    out.end(mark);
    const std::uint64_t parent = process_of(track);
    if (parent != 0) out.varint(track::kParent, parent);
    if (track.sort_index != kAbsent) out.varint(track::kRank, sort_index(track.sort_index));
  });
}

void Tracks::describe_plain(const Track& track, std::uint64_t uuid, std::uint64_t parent,
                            std::size_t rank) {
  const bool device = track.kind == TrackKind::device_stream;
  const std::string_view given = trace_.text(track.name);
  packets_.descriptor([&](ProtoMessage& out) {
    out.varint(track::kUuid, uuid);
    out.text(track::kName, device          ? stream_name(track)
                           : given.empty() ? std::string(trace_.text(track.thread))
                                           : std::string(given));
    if (parent != 0) out.varint(track::kParent, parent);
    out.varint(track::kRank, static_cast<std::uint64_t>(rank));
  });
}

void Tracks::describe_counter(const Track& track, std::uint64_t uuid) {
  const std::string_view unit = track.unit.valid() ? trace_.text(track.unit) : "";
  const std::uint64_t parent = track.device >= 0 ? device_group(track.device) : process_of(track);
  packets_.descriptor([&](ProtoMessage& out) {
    out.varint(track::kUuid, uuid);
    out.text(track::kName, trace_.text(track.thread));
    if (parent != 0) out.varint(track::kParent, parent);
    const ProtoMessage::Mark mark = out.begin(track::kCounter);
    if (unit == "bytes" || unit == "B") {
      out.varint(counter::kUnit, counter::kUnitBytes);
    } else if (unit == "ns") {
      out.varint(counter::kUnit, counter::kUnitNs);
    } else if (!unit.empty()) {
      out.text(counter::kUnitName, unit);
    }
    out.end(mark);
  });
}

std::uint64_t Tracks::of(TrackId id, std::size_t line) {
  const auto known = lines_.find({id.value, line});
  if (known != lines_.end()) return known->second;
  const Track& track = trace_.tracks[id.row()];
  // Two tracks with the numbers of one thread would be one track there.
  const bool numbered =
      line == 0 && track.kind == TrackKind::host_thread && track.pid > 0 && track.pid <= kLastPid &&
      track.tid > 0 && process_of(track) != 0 &&
      threads_.try_emplace({track.pid, track.tid}, id.value).first->second == id.value;
  const std::uint64_t parent = track.kind == TrackKind::device_stream ? device_group(track.device)
                               : line > 0 && process_of(track) == 0   ? of(id)
                                                                      : process_of(track);
  const std::uint64_t uuid = next_++;
  lines_.emplace(std::pair(id.value, line), uuid);
  if (track.kind == TrackKind::counter) {
    describe_counter(track, uuid);
  } else if (numbered) {
    describe_thread(track, uuid);
  } else {
    describe_plain(track, uuid, parent, id.row());
  }
  return uuid;
}

std::uint64_t Tracks::derived_counter(std::int32_t device, std::int64_t pid,
                                      const std::string& name) {
  const auto process = pids_.find(pid);
  const std::uint64_t parent = process != pids_.end() ? process->second
                               : device >= 0          ? device_group(device)
                                                      : 0;
  const auto [at, added] = derived_.try_emplace(std::to_string(pid) + " " + name, next_);
  if (!added) return at->second;
  const std::uint64_t uuid = next_++;
  packets_.descriptor([&](ProtoMessage& out) {
    out.varint(track::kUuid, uuid);
    out.text(track::kName, name);
    if (parent != 0) out.varint(track::kParent, parent);
    const ProtoMessage::Mark mark = out.begin(track::kCounter);
    out.varint(counter::kUnit, counter::kUnitBytes);
    out.end(mark);
  });
  return uuid;
}

}  // namespace fathom::perfetto
