// The libraries that the binary carries for programs under capture.
#pragma once

#include <span>
#include <string_view>

namespace fathom::capture {

struct CarriedLibrary {
  std::string_view file;  ///< "libfathom_nvtx.so".
  std::string_view bytes;
};

/// Those that this binary was built with. Defined in a source that cmake/carry.cmake makes.
std::span<const CarriedLibrary> carried_libraries();

}  // namespace fathom::capture
