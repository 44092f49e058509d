// How the program asks for memory: settings of the allocator, and an operator new that says what
// was asked for.
#pragma once

namespace fathom::cli {

/// Call first, before threads and large blocks.
void set_up_memory();

}  // namespace fathom::cli
