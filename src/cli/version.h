// The version and the build.
#pragma once

#include <string>
#include <string_view>

namespace fathom::cli {

/// "0.1.0", or with the commit where it was built from a checkout: "0.1.0 (v0.1.0-12-gabc1234)".
std::string_view version();

/// What `fathom --version` prints: the version; the processor and the oldest glibc that it was
/// built for, and the glibc that it runs on.
std::string version_text();

}  // namespace fathom::cli
