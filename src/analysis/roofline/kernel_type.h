// The type of number that a kernel computes with, as far as its name says.
#pragma once

#include <string_view>

#include "analysis/roofline/number_type.h"

namespace fathom {

/// From template arguments and from the letters of libraries (sgemm, hgemm); unknown where the name
/// shows none. Of several types the narrowest: what is multiplied is no wider than its sum.
NumberType type_of_kernel(std::string_view name);

}  // namespace fathom
