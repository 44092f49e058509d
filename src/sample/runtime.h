// Runtime: the state of the CPython in a process, and which version it is.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "sample/layout.h"
#include "sample/mappings.h"
#include "sample/memory.h"

namespace fathom::sample {

struct Runtime {
  Address address = 0;  ///< Of _PyRuntime.
  Layout layout;
  std::string version;  ///< "3.11.7".
  std::string module;   ///< The program or library that it lies in.
};

/// Looks for it in everything that is mapped, whatever it is called: by the exported symbol, by the
/// section of the file, by the symbols for debuggers, at last by the mark at its start (from 3.13
/// on). Errors: not_found in a process without CPython, unsupported for a CPython whose layout is
/// not known, io where it is not ready yet or not any more.
Result<Runtime> find_runtime(pid_t pid, const Memory& memory, const std::vector<Mapping>& mappings);

/// The version in the text that sys.version is made of: "3.8.18 (default, …) \n[GCC …]"; "" where
/// there is none.
std::string version_in(std::string_view text);

}  // namespace fathom::sample
