// The error where the system makes no process.
#pragma once

#include "base/result.h"

namespace fathom::capture {

/// After a fork() that failed for that reason.
Error no_process(int reason);

}  // namespace fathom::capture
