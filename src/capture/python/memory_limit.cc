// Holds how many bytes the recorder of Python may still take: 256 MiB at first.
#include "capture/python/memory_limit.h"

namespace fathom::python {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one limit
std::size_t MemoryLimit::left = std::size_t{256} << 20U;

}  // namespace fathom::python
