// The names of a trace, each kept once and known by a 32-bit id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "store/append_list.h"
#include "store/column.h"

namespace fathom {

struct StringTable;
using StringId = Id<StringTable>;

/// 64-bit hash of the bytes, stable within a process run only.
std::uint64_t hash_bytes(std::string_view bytes);

/// Interned strings. Id 0 is always the empty string. Ids are dense: 0 … size()-1, in order of
/// interning, which differs between runs when several threads intern; order output by text, never
/// by id. A pool that was moved from can only be destroyed or assigned to.
class StringPool {
 public:
  StringPool();
  /// A pool of texts that lie behind each other in `bytes`, which it takes over, with 16 readable
  /// bytes behind the last: text `id` is `lengths[id]` long, the first is empty. No text is looked
  /// at before the first intern() or find(). None where the lengths do not fit the bytes.
  static std::optional<StringPool> of_texts(Column<char> bytes,
                                            std::span<const std::uint32_t> lengths);
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

  /// Starts to bring near what an intern() with this hash will look at: in a large pool it waits
  /// for memory, which some work in between hides. Safe while others intern.
  void prefetch(std::uint64_t hash) const;

  /// The id of `text` if it was interned, else an invalid id.
  [[nodiscard]] StringId find(std::string_view text) const;

  /// The text of a valid id, or "" for an invalid one. While others intern, only for ids that this
  /// thread got from intern().
  [[nodiscard]] std::string_view view(StringId id) const {
    return id.valid() ? (*texts_)[id.row()] : std::string_view();
  }
  /// Not while another thread interns.
  [[nodiscard]] std::size_t size() const { return texts_->size(); }

 private:
  class Shard;
  struct Adopted;

  /// Puts the texts of of_texts() into the shards, once.
  void index_adopted() const;

  std::unique_ptr<AppendList<std::string_view>> texts_;
  std::unique_ptr<Shard[]> shards_;
  std::unique_ptr<Adopted> adopted_;  ///< Only of of_texts().
};

}  // namespace fathom
