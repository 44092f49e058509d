// Which processes may be asked for a trace while they run, and what keeps the others from it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace fathom::capture {

/// A process as far as /proc shows.
struct KinetoTarget {
  pid_t pid = 0;
  bool readable = false;  ///< Its environment may be read; else `daemon` and `rank` are unknown.
  bool daemon = false;    ///< It was started with KINETO_USE_DAEMON set.
  bool torch = false;     ///< PyTorch is loaded.
  bool rank = false;      ///< It is a rank of a distributed run.
  bool worker = false;    ///< Forked from one above it without a program of its own.
};

/// These processes and their descendants, parents first. `root` is put in front of /proc.
std::vector<KinetoTarget> kineto_targets(const std::vector<pid_t>& pids,
                                         const std::string& root = "");

/// Those that can be expected to ask: ranks where there are any, no forked workers.
std::vector<pid_t> expected_to_ask(const std::vector<KinetoTarget>& targets);

/// What the user should know before waiting: why a process, or all of them, will not ask, and what
/// to do. Empty where nothing stands against it.
std::vector<std::string> reasons_against(const std::vector<KinetoTarget>& targets);

}  // namespace fathom::capture
