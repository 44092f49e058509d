// Version and build, from CMake and git.
#include "cli/version.h"

#include <gnu/libc-version.h>

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

std::string version_text() {
#if defined(__x86_64__)
  std::string text = "x86-64 (v2 or newer)";
#elif defined(__aarch64__)
  std::string text = "aarch64";
#else
  std::string text = "another processor";
#endif
#ifdef FATHOM_OLDEST_GLIBC
  text += ", for glibc " FATHOM_OLDEST_GLIBC " and newer";
#endif
  return "fathom " + std::string(version()) + "\n" + text + ", on glibc " + gnu_get_libc_version() +
         "\n";
}

}  // namespace fathom::cli
