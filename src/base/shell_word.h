// Quotes words of commands that people copy into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// `text` as one word of a shell, to the byte: as it is where nothing in it means something to a
/// shell, else in single quotes. Where a terminal would not show it as it is (line feeds, other
/// control characters, what is no UTF-8), in bash's $'…', which zsh and ksh know, too.
std::string shell_word(std::string_view text);

/// One line that a shell reads as these words.
std::string command_line(const std::vector<std::string>& words);

}  // namespace fathom
