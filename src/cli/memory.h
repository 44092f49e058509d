// How the program asks for memory: settings of the allocator, an operator new that says what was
// asked for, and an end that reports it where there is no room even for an exception.
#pragma once

#include <new>

namespace fathom::cli {

/// Call first in main, before anything that allocates.
void set_up_memory();

/// Says on stderr what failed, without allocating. False, and nothing is written, where it met no
/// limit of the process: then there is memory for a text that knows other limits.
bool say_out_of_memory(const std::bad_alloc& error) noexcept;

}  // namespace fathom::cli
