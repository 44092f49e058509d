// A command that is given as one text: its words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::measure {

/// The words of a command by the quoting rules of the POSIX shell, section 2.2 (backslash, single
/// and double quotes) and with $'…' as command_line() writes it, without a shell: nothing is
/// expanded. Errors: invalid_argument for no word, an open quote, and for what only a shell
/// understands ("|", "$HOME", "*.py"): quoted, it is a character like others.
Result<std::vector<std::string>> command_words(std::string_view text);

}  // namespace fathom::measure
