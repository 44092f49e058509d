// Interning with a cache in front, and the slow forms of strings: escapes, damage, canonical JSON.
#include "formats/chrome/text_cache.h"

#include <simdjson.h>

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

void append_utf8(std::string& out, std::uint32_t code) {
  const auto push = [&out](std::uint32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xc0U | code >> 6U);
    push(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    push(0xe0U | code >> 12U);
    push(0x80U | (code >> 6U & 0x3fU));
    push(0x80U | (code & 0x3fU));
  } else {
    push(0xf0U | code >> 18U);
    push(0x80U | (code >> 12U & 0x3fU));
    push(0x80U | (code >> 6U & 0x3fU));
    push(0x80U | (code & 0x3fU));
  }
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
  append_utf8(out, static_cast<std::uint32_t>(first));
  return 6;
}

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out.push_back(kHex[static_cast<unsigned char>(c) >> 4U]);
          out.push_back(kHex[static_cast<unsigned char>(c) & 15U]);
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

/// Length of the valid UTF-8 sequence at text[at], or 0.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const auto continues = [&byte, at](std::size_t n) {
    for (std::size_t i = 1; i < n; ++i) {
      if ((byte(at + i) & 0xc0U) != 0x80U) return false;
    }
    return true;
  };
  if (lead >= 0xc2 && lead <= 0xdf) return continues(2) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned second = byte(at + 1);
    const bool overlong = lead == 0xe0 && second < 0xa0;
    const bool surrogate = lead == 0xed && second >= 0xa0;
    return continues(3) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned second = byte(at + 1);
    const bool overlong = lead == 0xf0 && second < 0x90;
    const bool beyond = lead == 0xf4 && second >= 0x90;
    return continues(4) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool mend_utf8(std::string& text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return false;
  std::string fixed;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      append_utf8(fixed, 0xfffd);
      ++i;
    } else {
      fixed.append(text, i, length);
      i += length;
    }
  }
  text = std::move(fixed);
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
      append_escaped(out, text);
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
