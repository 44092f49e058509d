// Which files of Python are Fathom's own recorder.
#pragma once

#include <string_view>

namespace fathom {

/// Is it a file of the recorder that runs inside of programs?
bool is_recorder_file(std::string_view file);

/// Is it the one that runs around what each thread of the program does?
bool is_around_threads(std::string_view file);

}  // namespace fathom
