// Decodes UTF-8 and measures it with a short table of wide and zero-width ranges (Unicode 15, East
// Asian Width).
#include "render/text_width.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace fathom {
namespace {

struct Range {
  char32_t first, last;
};
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x2614, 0x2615},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26D4, 0x26D4},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},
    {0x2B50, 0x2B50},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD},
};
constexpr Range kZero[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},   {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

template <std::size_t N>
bool within(const Range (&ranges)[N], char32_t c) {
  const Range* at = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return at != std::end(ranges) && c >= at->first;
}

std::size_t width_of(const Utf8Char& c) {
  if (!c.valid || c.code < 0x300) return 1;
  if (within(kZero, c.code)) return 0;
  return within(kWide, c.code) ? 2 : 1;
}

void append_visible(std::string& out, std::string_view bytes, const Utf8Char& c) {
  if (!c.valid) {
    out += kReplacementCharacter;
  } else if (c.code < 0x20) {
    // U+2400 … U+241F are pictures of the control characters, in their order.
    out += "\xE2\x90";
    out += static_cast<char>(0x80 + c.code);
  } else if (c.code == 0x7F) {
    out += "\xE2\x90\xA1";
  } else if (c.code >= 0x80 && c.code < 0xA0) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned>(c.code));
    out += text.data();
  } else if (!is_reordering(c.code)) {
    out += bytes;
  }
}

/// The longest beginning of `text` that fits into `width` columns.
std::string_view fitting_front(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (used + width_of(c) > width) break;
    used += width_of(c);
    at += c.bytes;
  }
  return text.substr(0, at);
}

/// The longest end of `text` that fits into `width` columns.
std::string_view fitting_back(std::string_view text, std::size_t width) {
  std::size_t skipped = 0;
  std::size_t remaining = display_width(text);
  while (remaining > width) {
    const Utf8Char c = decode_utf8(text.substr(skipped));
    remaining -= width_of(c);
    skipped += c.bytes;
  }
  return text.substr(skipped);
}

bool is_unit(std::string_view word) {
  constexpr std::string_view kUnits[] = {"%", "ns",  "µs",  "ms",  "s",
                                         "B", "KiB", "MiB", "GiB", "TiB"};
  word = word.substr(0, word.find_first_of(",.;:)"));
  return std::ranges::find(kUnits, word) != std::end(kUnits);
}

/// Up to the next blank; a number has its unit with it ("62.8 %").
std::string_view first_word(std::string_view text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  if (blank == 0 || text[blank - 1] < '0' || text[blank - 1] > '9') return text.substr(0, blank);
  if (blank == text.size()) return text;
  const std::size_t end = std::min(text.find(' ', blank + 1), text.size());
  return text.substr(0, is_unit(text.substr(blank + 1, end - blank - 1)) ? end : blank);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    width += width_of(c);
    at += c.bytes;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    append_visible(out, text.substr(at, c.bytes), c);
    at += c.bytes;
  }
  return out;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  // The front says what it is, the back which one; the front gets the odd column.
  const std::size_t back = (width - 1) / 2;
  std::string out(fitting_front(text, width - 1 - back));
  out += "…";
  out += fitting_back(text, back);
  return out;
}

std::string shorten_end(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(fitting_front(text, width - 1)) + "…";
}

std::string pad_right(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t used = display_width(text);
  if (used < width) out.append(width - used, ' ');
  return out;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  std::string out(used < width ? width - used : 0, ' ');
  out += text;
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  constexpr std::size_t kLongestWord = 1000;
  width = std::max<std::size_t>(width, 8);
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    std::string shortened;
    std::string_view word = first_word(text);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.size() > kLongestWord) word = shortened = shorten_middle(word, kLongestWord);
    if (used != 0 && used + 1 + display_width(word) > width) {
      out += '\n';
      out += indent;
      used = 0;
    } else if (used != 0) {
      out += ' ';
      ++used;
    }
    for (; display_width(word) > width - used;) {
      const std::string_view part = fitting_front(word, width - used);
      out += part;
      out += '\n';
      out += indent;
      used = 0;
      word.remove_prefix(part.size());
    }
    out += word;
    used += display_width(word);
  }
  return out;
}

}  // namespace fathom
