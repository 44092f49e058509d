// The keys of trace events that are read, found by text or by a guess of which one comes next.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/simd.h"

namespace fathom::chrome {

/// Keys of an event object. Several spellings may share an id.
enum class Key : std::uint8_t {
  unknown,  ///< Not in the table: counted.
  ignored,  ///< In the table, but nothing that Fathom reads.
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  args,
  id,
  attribute,  ///< Of the args: KeyEntry::attribute says which.
};

/// A row of the key table.
struct KeyEntry {
  Key key = Key::unknown;
  std::uint8_t attribute = 0;  ///< Of Key::attribute: its place in kAttributes.
  std::uint8_t index = 0;      ///< Distinct for every spelling of both tables; 0 for Key::unknown.
  std::uint8_t quoted_size = 0;   ///< Length of `"text":`; 0 for Key::unknown.
  std::array<char, 48> quoted{};  ///< `"text":`, padded with zeros.
  [[nodiscard]] std::string_view text() const { return {quoted.data() + 1, quoted_size - 3U}; }
  /// One for each thing that an object may say once.
  [[nodiscard]] std::uint64_t bit() const {
    return std::uint64_t{1} << (key == Key::attribute ? attribute : static_cast<unsigned>(key));
  }
};

/// More than any KeyEntry::index.
inline constexpr std::size_t kKeyIndexes = 192;

/// Does the text at `p` start with the entry's `"key":`? Never true of the entry of Key::unknown.
/// 48 bytes must be readable.
inline bool matches(const char* p, const KeyEntry& entry) {
  const auto differing = [p, &entry](unsigned at) {
    return mask_of(equal(simd::load(p + at), simd::load(entry.quoted.data() + at))) ^ 0xffffU;
  };
  const unsigned size = entry.quoted_size;
  if (size <= 16) return size != 0 && (differing(0) & ((1U << size) - 1)) == 0;
  if (differing(0) != 0) return false;
  if (size <= 32) return (differing(16) & ((1U << (size - 16)) - 1)) == 0;
  return differing(16) == 0 && (differing(32) & ((1U << (size - 32)) - 1)) == 0;
}

/// The keys of one kind of object.
class KeyTable {
 public:
  struct Spelling {
    std::string_view text;
    Key key = Key::unknown;
    std::uint8_t attribute = 0;
  };
  KeyTable(std::span<const Spelling> spellings, std::size_t first_index);

  /// The entry of a key, or the entry of Key::unknown.
  [[nodiscard]] const KeyEntry& find(std::string_view text) const;

 private:
  static constexpr std::size_t kSlots = 1024;
  static std::size_t slot_of(std::string_view text);
  std::array<std::uint8_t, kSlots> slots_{};     // row of entries_
  std::array<KeyEntry, kKeyIndexes> entries_{};  // row 0: unknown
};

const KeyTable& event_keys();  ///< Keys of the event object.
const KeyTable& args_keys();   ///< Keys of its args.

}  // namespace fathom::chrome
