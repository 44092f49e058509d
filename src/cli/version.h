// The version and the build.
#pragma once

#include <string_view>

namespace fathom::cli {

/// "0.1.0", or with the commit where it was built from a checkout: "0.1.0 (v0.1.0-12-gabc1234)".
std::string_view version();

}  // namespace fathom::cli
