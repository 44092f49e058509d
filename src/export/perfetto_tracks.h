// Which Perfetto track each track of a trace becomes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "export/perfetto_packets.h"
#include "store/trace.h"

namespace fathom::perfetto {

/// Describes tracks as they are first needed, and gives their numbers. Threads lie in their
/// process; streams and counters of a device under "GPU 0", in the order of the trace; what
/// overlaps its neighbours on a further line of the same name.
class Tracks {
 public:
  Tracks(const Trace& trace, Packets& packets);

  /// The number of a track, and of its further lines.
  std::uint64_t of(TrackId id, std::size_t line = 0);
  /// A counter that the trace holds in another form, e.g. "memory CPU allocated".
  std::uint64_t derived_counter(std::int32_t device, std::int64_t pid, const std::string& name);

 private:
  [[nodiscard]] std::uint64_t process_of(const Track& track) const;
  std::uint64_t device_group(std::int32_t device);
  void describe_processes();
  void describe_thread(const Track& track, std::uint64_t uuid);
  void describe_plain(const Track& track, std::uint64_t uuid, std::uint64_t parent,
                      std::size_t rank);
  void describe_counter(const Track& track, std::uint64_t uuid);
  [[nodiscard]] std::string stream_name(const Track& track) const;

  const Trace& trace_;
  Packets& packets_;
  std::uint64_t next_ = 1;
  std::map<std::uint32_t, std::uint64_t> processes_;  // by the text of the pid
  std::map<std::int64_t, std::uint64_t> pids_;
  std::map<std::int32_t, std::uint64_t> devices_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;  // to the track's row
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> lines_;
  std::map<std::string, std::uint64_t> derived_;
};

}  // namespace fathom::perfetto
