// The names of a trace, each kept once and known by a 32-bit id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace fathom {

struct StringTable;
using StringId = Id<StringTable>;

/// 64-bit hash of the bytes, stable within a process run only.
std::uint64_t hash_bytes(std::string_view bytes);

/// Interned strings. Id 0 is always the empty string. Ids are dense: 0 … size()-1, in order of
/// interning, which differs between runs when several threads intern; order output by text, never
/// by id.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept;
  StringPool& operator=(StringPool&&) noexcept;
  ~StringPool();

  /// The id of `text`, adding it when new. Safe to call from several threads at once.
  StringId intern(std::string_view text) { return intern(text, hash_bytes(text)).id; }

  struct Interned {
    StringId id;
    std::string_view
        text;  ///< Our copy; stays where it is as long as the pool lives, 16 bytes readable behind.
  };
  /// The same, with the hash already computed.
  Interned intern(std::string_view text, std::uint64_t hash);

  /// The id of `text` if it was interned, else an invalid id.
  [[nodiscard]] StringId find(std::string_view text) const;

  /// The text of a valid id, or "" for an invalid one. Not while another thread interns.
  [[nodiscard]] std::string_view view(StringId id) const {
    return id.valid() ? entries_[id.row()] : std::string_view();
  }
  /// The same, safe while other threads intern.
  [[nodiscard]] std::string_view text_of(StringId id) const {
    const std::scoped_lock lock(*mutex_);
    return view(id);
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = StringId::kNone;
  };
  std::string_view store(std::string_view text);
  void rehash(std::size_t slots);

  std::vector<std::string_view> entries_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_begin_ = nullptr;
  char* free_end_ = nullptr;
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace fathom
