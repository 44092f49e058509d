// Has running PyTorch programs record themselves, and gathers their traces.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "capture/attach/fabric.h"
#include "record/messages.h"

namespace fathom::record {

/// What to record of which processes.
struct KinetoRequest {
  std::vector<pid_t> pids;  ///< Their descendants are meant, too.
  Duration duration{};
  Duration timeout{};             ///< How long to wait until the first of them asks for work.
  std::vector<std::string> with;  ///< shapes, stacks, memory, flops.
  std::string folder;             ///< Of the session, absolute.
};

/// "process 123 (python train.py)".
std::string process_title(pid_t pid);

/// Serves until every process that is expected to ask for work has asked (or, after the first, a
/// few seconds have passed), and their traces lie in the folder. Several processes begin at the
/// same moment. Returns those that were recorded; what goes wrong with others is reported as
/// progress. Errors: invalid_argument where there is not a single trace, with the reason.
Result<std::vector<pid_t>> record_kineto(const KinetoRequest& request,
                                         capture::FabricServer& server, const Messages& messages);

}  // namespace fathom::record
