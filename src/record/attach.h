// Records running programs for a moment, into a session folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "record/messages.h"

namespace fathom::record {

struct AttachOptions {
  std::vector<pid_t> pids;  ///< At least one; their descendants are meant, too.
  std::string output;       ///< The session folder, new or empty; "" for one under fathom-runs/.
  std::string name;         ///< What to call the run; "" for a name from the first one's command.
  Duration duration = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(30);  ///< How long to wait until the first one asks.
  std::vector<std::string> with;                ///< shapes, stacks, memory, flops.
  std::optional<int> rate;                      ///< Looks a second where threads are sampled.
  std::string version;                          ///< Of Fathom, for the manifest.
};

struct AttachOutcome {
  std::string folder;  ///< Of the session, as to be shown.
  std::vector<pid_t> recorded;
};

/// Has the processes record themselves, by dynolog's protocol: see record_kineto(). Where none of
/// them can be asked, samples their threads from outside until the time is over, the first has
/// ended, or Ctrl-C. Errors: a process that does not exist or cannot be reached, another daemon, no
/// trace, no folder.
Result<AttachOutcome> record_attached(const AttachOptions& options, const Messages& messages);

}  // namespace fathom::record
