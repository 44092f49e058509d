// CodeFlow: where a function's frame is at one of its instructions, by following all instructions
// before it: a kernel may move or align its stack long after its start.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sample/native/code_frame.h"

namespace fathom::sample::native {

/// `code` begins with the function's first instruction; `place` is how far behind it a thread is.
/// Each way that leads there must have the stack at the same height, or a register that points into
/// it. With `several`, functions may follow one another in it, each at a multiple of 16. Nothing
/// where the place is not reached so, or where an instruction is not known. x86-64. O(code).
std::optional<CodeFrame> follow(std::span<const std::byte> code, std::size_t place, bool several);

/// Whether code begins as functions do that keep registers or need a stack.
bool begins_function(std::span<const std::byte> code);

}  // namespace fathom::sample::native
