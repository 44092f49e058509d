// How a fuzz target says that something does not hold: a sentence, then the end of the process.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fathom {

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

}  // namespace fathom
