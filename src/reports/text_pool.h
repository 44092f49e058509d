// The texts of one table, each kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// Interned texts in one piece of memory, known by dense ids from 0 on. Not for several threads at
/// once. Unlike the trace's StringPool it is small when it holds little.
class TextPool {
 public:
  using Id = std::uint32_t;

  /// The id of `text`, which is added when it is new.
  Id intern(std::string_view text);
  /// Valid until the next intern().
  [[nodiscard]] std::string_view text(Id id) const {
    const std::size_t begin = id == 0 ? 0 : ends_[id - 1];
    return std::string_view(bytes_).substr(begin, ends_[id] - begin);
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view text) const;
  void grow();

  static constexpr Id kFree = ~Id{0};
  std::string bytes_;
  std::vector<std::size_t> ends_;  // of each text in bytes_
  std::vector<Id> slots_;          // open addressing by hash, a power of two
};

}  // namespace fathom
