// Ranges: pushed and popped by a thread, or started and ended anywhere.
#pragma once

#include <cstdint>

#include "capture/nvtx/attributes.h"

namespace fathom::nvtx {

/// The depth at which the new range lies among those of its domain on this thread, from 0.
int push(const Domain* domain, const Attributes& attributes) noexcept;
/// The depth of the range that ends here, negative where there is none.
int pop(const Domain* domain) noexcept;

/// Its id; 0 where there is no memory for it.
std::uint64_t start(const Attributes& attributes) noexcept;
/// An id that is not of a started range is ignored.
void end(std::uint64_t id) noexcept;

}  // namespace fathom::nvtx
