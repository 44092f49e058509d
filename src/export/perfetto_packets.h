// Packets: writes Perfetto packets one after the other; each name is written once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/perfetto_fields.h"
#include "export/proto.h"
#include "export/write_buffer.h"
#include "store/trace.h"

namespace fathom::perfetto {

/// Builds packets of one sequence. begin_event() … end_event() is one event; its names become
/// numbers, which the packet explains where they are new.
class Packets {
 public:
  /// Writes the packet that opens the sequence; with Unix time where the trace has it.
  Packets(const Trace& trace, WriteBuffer& out);

  /// Fills `message` into a track descriptor.
  template <typename Fill>
  void descriptor(const Fill& fill);

  void begin_event(std::uint64_t type, std::uint64_t track, Time time);
  void name(StringId name);
  void category(std::uint8_t row);
  void flow(std::uint64_t id, bool ends);
  void value(double value);
  void end_event();

  // As visit_arguments() wants them: arguments of the event that was begun.
  void integer(std::string_view key, std::int64_t value);
  void real(std::string_view key, double value);
  void text(std::string_view key, StringId value);
  void json(std::string_view key, StringId value) { text(key, value); }
  void sizes(std::string_view key, const std::array<std::int32_t, 3>& value);

 private:
  void start();
  /// Perfetto's times are not signed: ns since 1970, or since a trace's own zero.
  [[nodiscard]] std::uint64_t time_of(Time time) const;
  void open_packet(std::uint64_t flags);
  void close_packet();
  ProtoMessage::Mark open_argument(std::string_view key);
  void intern(std::uint32_t field, std::uint64_t id, std::string_view text);
  static bool first(std::vector<bool>& seen, std::size_t row);

  const Trace& trace_;
  WriteBuffer& out_;
  std::uint64_t shift_ = 0;
  ProtoMessage packet_;
  ProtoMessage names_;  // what the packet explains
  ProtoMessage::Mark packet_mark_ = 0;
  ProtoMessage::Mark event_mark_ = 0;
  std::vector<bool> name_seen_;
  std::vector<bool> text_seen_;
  std::vector<bool> category_seen_;
  std::unordered_map<std::string_view, std::uint64_t> keys_;
  std::vector<std::size_t> key_sizes_ = {0};                             // by number, from 1
  std::array<std::pair<const char*, std::uint64_t>, 64> recent_keys_{};  // by the text's address
};

template <typename Fill>
void Packets::descriptor(const Fill& fill) {
  open_packet(0);
  const ProtoMessage::Mark mark = packet_.begin(packet::kTrackDescriptor);
  fill(packet_);
  packet_.end(mark);
  close_packet();
}

}  // namespace fathom::perfetto
