// Small per-thread caches in front of the shared string pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/string_pool.h"

namespace fathom::chrome {

/// Remembers which id a text got. Direct-mapped; a miss is the caller's to fill. Texts given to
/// put() must stay valid for the life of the cache. Begins small, for files of few names.
class TextCache {
 public:
  /// `most`: how many texts it will hold, at most; a power of two.
  explicit TextCache(std::size_t most) : entries_(std::min(most, kFirstEntries)), most_(most) {}

  [[nodiscard]] StringId find(std::string_view text, std::uint64_t hash) const {
    const Entry& entry = entries_[hash & (entries_.size() - 1)];
    if (entry.hash == hash && entry.size == text.size() &&
        std::memcmp(entry.text, text.data(), text.size()) == 0) {
      return entry.id;
    }
    return {};
  }
  void put(std::string_view text, std::uint64_t hash, StringId id) {
    if (++puts_ > entries_.size() / 2 && entries_.size() < most_) grow();
    entries_[hash & (entries_.size() - 1)] = {hash, text.data(),
                                              static_cast<std::uint32_t>(text.size()), id};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;  // the size of no text
  struct Entry {
    std::uint64_t hash = 0;
    const char* text = "";
    std::uint32_t size = kNone;
    StringId id;
  };

  void grow() {
    std::vector<Entry> old(std::min(entries_.size() * 8, most_));
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.size != kNone) entries_[entry.hash & (entries_.size() - 1)] = entry;
    }
  }

  static constexpr std::size_t kFirstEntries = 64;

  std::vector<Entry> entries_;  // a power of two
  std::size_t most_;
  std::size_t puts_ = 0;
};

/// Interns strings of one thread, and the canonical form of nested JSON values.
class ThreadStrings {
 public:
  explicit ThreadStrings(StringPool& pool) : pool_(pool) {}

  StringId intern(std::string_view text) {
    const std::uint64_t hash = hash_bytes(text);
    const StringId known = names_.find(text, hash);
    return known.valid() ? known : add_name(text, hash);
  }

  /// A string whose id is asked for now and needed later.
  struct Request {
    StringId id;  ///< Valid when it is known already.
    std::string_view text;
    std::uint64_t hash = 0;
  };
  /// Two halves of intern(): work in between hides the wait for the pool's memory. `text` must be
  /// unchanged until finish().
  Request start(std::string_view text) {
    const std::uint64_t hash = hash_bytes(text);
    const Request request{names_.find(text, hash), text, hash};
    if (!request.id.valid()) pool_.prefetch(hash);
    return request;
  }
  StringId finish(const Request& request) {
    return request.id.valid() ? request.id : add_name(request.text, request.hash);
  }

  /// The id of the canonical text of the JSON value `raw`: no white space outside strings, strings
  /// escaped in one way only.
  StringId intern_json(std::string_view raw) {
    const std::uint64_t hash = hash_bytes(raw);
    const StringId known = values_.find(raw, hash);
    return known.valid() ? known : add_value(raw, hash);
  }

 private:
  StringId add_name(std::string_view text, std::uint64_t hash);
  StringId add_value(std::string_view raw, std::uint64_t hash);
  void add_raw_chunk(std::size_t at_least);

  static constexpr std::size_t kMaxValues = 2048;

  StringPool& pool_;
  TextCache names_{4096};
  TextCache values_{kMaxValues};
  std::vector<std::unique_ptr<char[]>>
      raw_chunks_;  // copies of raw values that the cache points at
  std::size_t raw_free_ = 0;
  std::size_t raw_bytes_ = 0;  // of the last chunk
};

/// Decodes the inside of a JSON string: escapes resolved, damage fixed by rule (docs/formats.md).
struct StringDamage {
  bool invalid_escape = false;
  bool control_character = false;
  bool invalid_utf8 = false;
};
StringDamage decode_string(std::string_view inside, std::string& out);

/// Canonical text of a JSON value; see ThreadStrings::intern_json.
void canonical_json(std::string_view raw, std::string& out);

/// Replaces what is not UTF-8 by U+FFFD; true when something was.
bool mend_utf8(std::string& text);

}  // namespace fathom::chrome
