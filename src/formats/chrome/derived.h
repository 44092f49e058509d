// Events that this program adds to a Chrome trace for viewers: sums of what is there already.
#pragma once

#include <string_view>

namespace fathom::chrome {

/// Their category. What is read and written again stays as it was, because readers leave it out.
inline constexpr std::string_view kDerivedCategory = "fathom_derived";

}  // namespace fathom::chrome
