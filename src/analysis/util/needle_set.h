// Many substrings looked for at once, ignoring case: one pass over the text however many there are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fathom {

/// An Aho-Corasick automaton over a small alphabet. Immutable after construction; share it freely.
class NeedleSet {
 public:
  /// Needles are looked for in the order given; an empty one is never found.
  /// Any characters may be used, but at most 63 different ones (letters count once).
  explicit NeedleSet(std::span<const std::string_view> needles);

  /// Calls `found(index)` for each occurrence of each needle, in the order of their ends.
  template <typename Found>
  void scan(std::string_view text, Found&& found) const {
    std::uint32_t state = 0;
    for (const char c : text) {
      state = next_[state * kWidth + symbol_[static_cast<unsigned char>(c)]];
      for (std::uint32_t at = ends_[state]; at != kEnd; at = matches_[at].next)
        found(matches_[at].needle);
    }
  }

 private:
  static constexpr std::size_t kWidth = 64;
  static constexpr std::uint32_t kEnd = 0xffffffffU;
  struct Match {
    std::uint32_t needle;
    std::uint32_t next;  // of the same state, then of its longest suffix that is a state
  };
  void add(std::string_view needle, std::uint32_t index);
  void link();

  std::array<std::uint8_t, 256> symbol_{};  // 0: a character of no needle
  std::vector<std::uint16_t> next_;
  std::vector<std::uint32_t> ends_;
  std::vector<Match> matches_;
};

}  // namespace fathom
