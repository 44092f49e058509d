// Interning with a cache in front, and the slow forms of strings: escapes, damage, canonical JSON.
#include "formats/chrome/text_cache.h"

#include "base/json_writer.h"
#include "base/utf8.h"
#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

constexpr std::size_t kFirstRawBytes = std::size_t{4} << 10;
constexpr std::size_t kRawChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxRawChunks = 16;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The four hex digits at `at`, or -1.
int hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/// Decodes the \uXXXX at text[at] ('\\'), with its low surrogate when there is one. Returns the
/// bytes consumed.
std::size_t decode_unicode(std::string_view text, std::size_t at, std::string& out, bool& invalid) {
  const int first = hex4(text, at + 2);
  if (first < 0) {
    invalid = true;
    out.push_back('\\');
    return 1;
  }
  if (first >= 0xd800 && first < 0xdc00 && text.substr(at + 6, 2) == "\\u") {
    const int second = hex4(text, at + 8);
    if (second >= 0xdc00 && second < 0xe000) {
      append_utf8(out, 0x10000U + ((static_cast<std::uint32_t>(first) - 0xd800U) << 10U) +
                           (static_cast<std::uint32_t>(second) - 0xdc00U));
      return 12;
    }
  }
  if (first >= 0xd800 && first < 0xe000) {  // half a pair
    invalid = true;
    append_utf8(out, 0xfffd);
    return 6;
  }
  append_utf8(out, static_cast<char32_t>(first));
  return 6;
}

}  // namespace

bool mend_utf8(std::string& text) {
  if (is_utf8(text)) return false;
  text = valid_utf8(text);
  return true;
}

StringDamage decode_string(std::string_view inside, std::string& out) {
  StringDamage damage;
  out.clear();
  for (std::size_t i = 0; i < inside.size();) {
    const char c = inside[i];
    if (c != '\\') {
      damage.control_character = damage.control_character || static_cast<unsigned char>(c) < 0x20;
      out.push_back(c);
      ++i;
      continue;
    }
    const char escape = i + 1 < inside.size() ? inside[i + 1] : '\0';
    switch (escape) {
      case '"':
      case '\\':
      case '/':
        out.push_back(escape);
        i += 2;
        break;
      case 'n':
        out.push_back('\n');
        i += 2;
        break;
      case 't':
        out.push_back('\t');
        i += 2;
        break;
      case 'r':
        out.push_back('\r');
        i += 2;
        break;
      case 'b':
        out.push_back('\b');
        i += 2;
        break;
      case 'f':
        out.push_back('\f');
        i += 2;
        break;
      case 'u':
        i += decode_unicode(inside, i, out, damage.invalid_escape);
        break;
      default:  // keep the backslash: a Windows path is the usual reason
        damage.invalid_escape = true;
        out.push_back('\\');
        ++i;
    }
  }
  damage.invalid_utf8 = mend_utf8(out);
  return damage;
}

void canonical_json(std::string_view raw, std::string& out) {
  out.clear();
  std::string text;
  for (std::size_t i = 0; i < raw.size();) {
    const char c = raw[i];
    if (c == '"') {
      std::size_t close = i + 1;
      while (close < raw.size() && raw[close] != '"') close += raw[close] == '\\' ? 2 : 1;
      close = std::min(close, raw.size());
      decode_string(raw.substr(i + 1, close - i - 1), text);
      append_json_string(out, text, JsonEscapes::canonical);
      i = close + 1;
    } else {
      if (!json::is_space(c)) out.push_back(c);
      ++i;
    }
  }
}

StringId ThreadStrings::add_name(std::string_view text, std::uint64_t hash) {
  const StringPool::Interned added = pool_.intern(text, hash);
  names_.put(added.text, hash, added.id);
  return added.id;
}

StringId ThreadStrings::add_value(std::string_view raw, std::uint64_t hash) {
  std::string canonical;
  canonical_json(raw, canonical);
  const StringPool::Interned added = pool_.intern(canonical, hash_bytes(canonical));
  if (canonical == raw) {
    values_.put(added.text, hash, added.id);
    return added.id;
  }
  if (raw.size() > kRawChunkBytes / 8) return added.id;  // too long to be worth remembering
  if (raw_free_ + raw.size() > raw_bytes_) add_raw_chunk(raw.size());
  char* const copy = raw_chunks_.back().get() + raw_free_;
  std::memcpy(copy, raw.data(), raw.size());
  raw_free_ += raw.size();
  values_.put({copy, raw.size()}, hash, added.id);
  return added.id;
}

void ThreadStrings::add_raw_chunk(std::size_t at_least) {
  if (raw_chunks_.size() == kMaxRawChunks) {
    values_ = TextCache(kMaxValues);
    raw_chunks_.clear();
  }
  raw_bytes_ = std::clamp(raw_bytes_ * 4, std::max(kFirstRawBytes, at_least), kRawChunkBytes);
  raw_chunks_.push_back(std::make_unique_for_overwrite<char[]>(raw_bytes_));
  raw_free_ = 0;
}

}  // namespace fathom::chrome
