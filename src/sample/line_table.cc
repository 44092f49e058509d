// Decodes the tables of lines of CPython 3.8 to 3.14.
#include "sample/line_table.h"

#include "sample/memory.h"

namespace fathom::sample {
namespace {

using Line = std::optional<std::int32_t>;

constexpr std::int64_t kMostLine = std::int64_t{1} << 30;

Line checked(std::int64_t line) {
  if (line < 0 || line > kMostLine) return std::nullopt;
  return static_cast<std::int32_t>(line);
}

/// 3.8 and 3.9: pairs of increments; a line begins where its address is reached.
Line in_lnotab(std::span<const std::byte> table, std::int64_t line, std::uint32_t instruction) {
  std::uint64_t address = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    address += number_at<std::uint8_t>(table, at);
    if (address > instruction) break;
    line += number_at<std::int8_t>(table, at + 1);
  }
  return checked(line);
}

/// 3.10: pairs of the length of a range and the increment of its line; -128 is no line.
Line in_ranges(std::span<const std::byte> table, std::int64_t line, std::uint32_t instruction) {
  std::uint64_t end = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const auto increment = number_at<std::int8_t>(table, at + 1);
    if (increment != -128) line += increment;
    end += number_at<std::uint8_t>(table, at);
    if (end > instruction) return increment == -128 ? std::nullopt : checked(line);
  }
  return std::nullopt;
}

/// From 3.11 on: entries of a first byte (its high bit, 4 bits of kind, 3 of length in units of two
/// bytes) and what belongs to the kind, in bytes without the high bit.
class Locations {
 public:
  Locations(std::span<const std::byte> table, std::int64_t line) : table_(table), line_(line) {}

  Line find(std::uint32_t instruction) {
    std::uint64_t end = 0;
    while (at_ < table_.size()) {
      const std::uint8_t first = next();
      end += (std::uint64_t{first & 7U} + 1) * 2;
      const unsigned kind = (first >> 3U) & 15U;
      line_ += increment(kind);
      const bool has_line = kind != 15;
      skip_rest();
      if (end > instruction) return has_line ? checked(line_) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::uint8_t next() {
    return at_ < table_.size() ? number_at<std::uint8_t>(table_, at_++) : std::uint8_t{0};
  }
  /// Six bits a byte, the lowest first; the seventh says that more follow.
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x40;
    while ((byte & 0x40U) != 0 && at_ < table_.size() && shift < 36) {
      byte = next();
      value |= std::uint64_t{byte & 0x3fU} << shift;
      shift += 6;
    }
    const auto magnitude = static_cast<std::int64_t>(value >> 1U);
    return (value & 1U) != 0 ? -magnitude : magnitude;
  }
  std::int64_t increment(unsigned kind) {
    if (kind == 13 || kind == 14) return signed_number();
    return kind >= 10 && kind <= 12 ? kind - 10 : 0;
  }
  void skip_rest() {
    while (at_ < table_.size() && (number_at<std::uint8_t>(table_, at_) & 0x80U) == 0) ++at_;
  }

  std::span<const std::byte> table_;
  std::size_t at_ = 0;
  std::int64_t line_;
};

}  // namespace

std::optional<std::int32_t> line_at(LineTable kind, std::span<const std::byte> table,
                                    std::int32_t first_line, std::uint32_t instruction) {
  switch (kind) {
    case LineTable::lnotab:
      return in_lnotab(table, first_line, instruction);
    case LineTable::ranges:
      return in_ranges(table, first_line, instruction);
    case LineTable::locations:
      return Locations(table, first_line).find(instruction);
  }
  return std::nullopt;
}

}  // namespace fathom::sample
