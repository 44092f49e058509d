// What every thread of process trees does at one moment.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "sample/process_look.h"

namespace fathom::record {

struct TreeLooks {
  std::vector<sample::ProcessLook> processes;  ///< Parents before children.
  double milliseconds = 0;                     ///< How long it took to look at them.
};

struct TreeLooksOptions {
  bool alone = false;   ///< Without the processes below.
  bool native = false;  ///< Native functions, too.
};

/// Looks once at each of these processes and at those below it, from outside and without stopping
/// them. Of those below, `warning` gets a sentence for each that may not be looked at, and what
/// ended meanwhile is left out. Errors: those of sample::look_at() for one of `roots`.
Result<TreeLooks> look_at_trees(std::span<const pid_t> roots, const TreeLooksOptions& options,
                                const std::function<void(const std::string&)>& warning);

}  // namespace fathom::record
