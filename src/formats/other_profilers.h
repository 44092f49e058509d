// Files of other profilers, which no format reads: their kind, and the way to an answer.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// Names the tool whose binary file begins so, and what to do instead; "" for any other file.
std::string binary_of_other_profiler(std::string_view head);

/// The same by the ending of a file's name, for those whose first bytes do not tell.
std::string named_of_other_profiler(std::string_view path);

/// The same for text, JSON and tables.
std::string text_of_other_profiler(std::string_view head);

}  // namespace fathom
