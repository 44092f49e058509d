// A program with libfathom_cuda.so in it, and a fake libcupti.
#pragma once

#include <string>

#include "tests/programs/recorded.h"

namespace fathom::test {

inline const std::string kFolder = FATHOM_PROGRAMS;

/// Runs the program with the library; its status as of waitpid(). What `more` says goes first.
inline int run_injected(const Folder& folder, const std::string& what, Environment more = {}) {
  more.emplace("FATHOM_SESSION", folder.path());
  more.emplace("FATHOM_CUPTI", kFolder + "/libfake_cupti.so");
  more.emplace("CUDA_INJECTION64_PATH", kFolder + "/libfathom_cuda.so");
  return wait_for(start_program("cuda_program", {what}, more));
}

}  // namespace fathom::test
