// The build passes both (cmake/version.cmake); only this file is compiled anew when the commit
// changes.
#include "cli/version.h"

namespace fathom::cli {

std::string_view version() {
#ifdef FATHOM_COMMIT
  return FATHOM_VERSION " (" FATHOM_COMMIT ")";
#else
  return FATHOM_VERSION;
#endif
}

}  // namespace fathom::cli
