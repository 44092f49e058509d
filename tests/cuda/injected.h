// A program with libfathom_cuda.so in it, and a fake libcupti.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/programs/recorded.h"

namespace fathom::test {

inline const std::string kFolder = FATHOM_PROGRAMS;

/// The library of this build, or one that breaks a rule (rules_test.py).
inline std::string recorder() {
  const char* const other = std::getenv("FATHOM_TEST_CUDA_LIBRARY");
  return other == nullptr ? kFolder + "/libfathom_cuda.so" : std::string(other);
}

/// Runs the program with the library; its status as of waitpid(). What `more` says goes first.
inline int run_injected(const Folder& folder, const std::string& what, Environment more = {}) {
  more.emplace("FATHOM_SESSION", folder.path());
  more.emplace("FATHOM_CUPTI", kFolder + "/libfake_cupti.so");
  more.emplace("CUDA_INJECTION64_PATH", recorder());
  return wait_for(start_program("cuda_program", {what}, more));
}

}  // namespace fathom::test
