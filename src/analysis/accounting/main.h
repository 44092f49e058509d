// The time of the main host thread, for traces without device activity.
#pragma once

#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/threads.h"
#include "analysis/context.h"

namespace fathom {

/// What the main thread did over the trace's span: by time, disjoint, covering it. Where it is in
/// no operator, it may be waiting for the thread that runs the backward pass. Empty without host
/// work. O(slices + frames).
std::vector<HostPiece> account_main_thread(const Context& context, const HostThreads& threads,
                                           const OneOffWork& one_off);

/// Is this a Python frame that blocks: a join, a queue, a lock, sleep?
bool is_waiting_frame(std::string_view name);

}  // namespace fathom
