// Words of commands that people copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// `text` as one word of a shell: as it is where nothing in it means something to a shell, else in
/// single quotes. Control characters are made visible.
std::string shell_word(std::string_view text);

/// A fathom command with the input in the place of its TRACE. Standard input cannot be read again:
/// then TRACE stays.
std::string command_on(std::string_view command, std::string_view input);

}  // namespace fathom
