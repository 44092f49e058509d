// How many threads this process can keep busy: its processor affinity and its control groups'
// quota.
#pragma once

#include <optional>

#include "base/proc_file.h"

namespace fathom {

/// `processors` that the process may run on, cut to a quota in processors, rounded up: 1.5 are 2.
/// At least 1.
unsigned threads_for(unsigned processors, std::optional<double> quota);

/// The processors that the kernel lets this thread run on (sched_getaffinity). At least 1.
unsigned allowed_processors();

/// The tightest quota of processor time, in processors, of either version of control groups, from
/// our own group to the topmost that is seen. Unset: none.
std::optional<double> cpu_quota(const Roots& roots = {});

/// What holds for this process. Worked out once.
unsigned available_threads();

}  // namespace fathom
