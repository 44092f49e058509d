// Version and build, from CMake and git.
#include "cli/version.h"

#if __has_include(<fathom_commit.h>)
#include <fathom_commit.h>
#endif

namespace fathom::cli {

std::string_view version() {
#ifdef FATHOM_COMMIT
  return FATHOM_VERSION " (" FATHOM_COMMIT ")";
#else
  return FATHOM_VERSION;
#endif
}

}  // namespace fathom::cli
