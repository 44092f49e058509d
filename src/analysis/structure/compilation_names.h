// Names by which compilers and autotuners mark their work.
#pragma once

#include <string_view>

namespace fathom {

/// Is this a range that Dynamo, AOTAutograd, Inductor or Triton write while they compile or
/// autotune? Running compiled code, and looking it up, is none.
bool is_compiling_range(std::string_view name);

/// Is this Python frame ("…/torch/_dynamo/convert_frame.py(12): _compile") one of their functions
/// that compile or autotune?
bool is_compiling_frame(std::string_view name);

}  // namespace fathom
