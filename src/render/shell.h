// Commands that people copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// A fathom command with the input in the place of its TRACE, as a word of a shell. Standard input
/// cannot be read again: then TRACE stays.
std::string command_on(std::string_view command, std::string_view input);

}  // namespace fathom
