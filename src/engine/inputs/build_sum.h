// A number that differs between builds of the program.
#pragma once

#include <cstdint>

namespace fathom {

/// A sum over the code and the constants, as they lie in memory, of the program or library that
/// holds this function. Two builds that differ in anything have other sums; a linker's build id
/// would do, but depends on the folder of the build, so releases have none. Worked out once.
std::uint64_t build_sum();

}  // namespace fathom
