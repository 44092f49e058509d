// Hands out orders to record to running PyTorch programs, and gathers the traces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "capture/attach/fabric.h"

namespace fathom::cli {

/// What to record of whom.
struct AttachOrder {
  std::vector<pid_t> pids;  ///< Descendants are meant, too.
  Duration duration{};
  Duration timeout{};             ///< How long to wait until the first of them asks.
  std::vector<std::string> with;  ///< shapes, stacks, memory, flops.
  std::string folder;             ///< Of the session, absolute.
};

/// "process 123 (python train.py)".
std::string named(pid_t pid);

/// Serves until every process that is expected to ask has asked (or, after the first, a few seconds
/// have passed), and their traces lie in the folder. Where several are expected they begin at the
/// same moment. Returns those that were recorded; what goes wrong with others is said. Errors:
/// invalid_argument where there is not a single trace, with the reason.
Result<std::vector<pid_t>> attach_to(const AttachOrder& order, capture::FabricServer& server,
                                     const std::function<void(const std::string&)>& say);

}  // namespace fathom::cli
