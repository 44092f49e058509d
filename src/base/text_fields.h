// Takes numbers, words and lines off the front of a text, as the kernel's files have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {

/// Takes blanks off, but no line breaks.
void skip_blanks(std::string_view& text);
/// A whole number at the beginning of `text`, after blanks; takes it off. Unset: there is none, or
/// it does not fit.
std::optional<std::int64_t> take_integer(std::string_view& text);
/// The text up to the next line break; takes it and the break off.
std::string_view take_line(std::string_view& text);
/// The next word, blanks around it taken off; empty at the end.
std::string_view take_word(std::string_view& text);
/// The number that is the whole text, blanks around it aside.
std::optional<std::int64_t> whole_integer(std::string_view text);
/// The number behind "key" and blanks or a colon at the start of a line: "MemTotal:  17 kB" is 17.
std::optional<std::int64_t> keyed_integer(std::string_view text, std::string_view key);

}  // namespace fathom
