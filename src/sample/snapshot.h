// Snapshot: pieces of a process's memory, each read twice in one system call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sample/memory.h"

namespace fathom::sample {

/// Where a number is the same in both readings, it was so at one moment: after all were read once
/// and before any was read again. The second reading goes backwards: what leads to the others (a
/// thread to its innermost frame) is looked at first, read last, and read again at once, so that
/// the others did not change around it. `memory` must outlive it.
class Snapshot {
 public:
  explicit Snapshot(const Memory& memory) : memory_(memory) {}

  /// From now on these bytes are read, too. At most kMostPieces.
  void add(Address at, std::size_t size);
  void remove(Address at);
  /// Removes what was not looked at in the last `takes` takes.
  void remove_unused(std::uint32_t takes);

  /// Reads everything twice. What cannot be read is removed; false where something was. In the same
  /// system call `others` are read once, afterwards.
  bool take(std::span<const Piece> others = {});
  /// The same of what does not change meanwhile: reads everything once, as reading 0.
  bool take_once(std::span<const Piece> others = {});
  /// How many of the others the last take has read.
  [[nodiscard]] std::size_t others_read() const { return others_read_; }

  /// The bytes as reading 0 or 1 has them; empty where they were not read.
  [[nodiscard]] std::span<const std::byte> bytes(int reading, Address at, std::size_t size);
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

  static constexpr std::size_t kMostPieces = 65536;

 private:
  struct Kept {
    Address at = 0;
    std::size_t size = 0;
    std::size_t begin = 0;   ///< In a buffer.
    std::uint32_t used = 0;  ///< The take in which it was looked at last,
    std::uint32_t turn = 0;  ///< and when in it: what is innermost is looked at first.
    bool taken = false;
  };
  void lay_out();
  void number_again();
  bool take_readings(std::size_t readings, std::span<const Piece> others);

  const Memory& memory_;
  std::vector<Kept> pieces_;
  std::unordered_map<Address, std::size_t> index_;
  std::vector<std::size_t> large_;  ///< Those that hold more than one frame.
  std::vector<std::byte> buffers_[2];
  std::vector<Piece> reads_;
  std::vector<Piece> with_others_;
  std::size_t others_read_ = 0;
  std::uint32_t take_ = 0;
  std::uint32_t turn_ = 0;
  bool changed_ = true;
};

}  // namespace fathom::sample
