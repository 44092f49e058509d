// Recognises that memory did not suffice.
#include "measure/bench_run.h"

#include <csignal>

#include <sys/wait.h>

namespace fathom::measure {

bool out_of_memory(const ChildRun& run, bool killed) {
  if (run.ended != Ended::by_itself || run.status == 0) return false;
  const bool by_kernel = WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL;
  if (by_kernel && killed) return true;
  return run.said_no_memory;
}

}  // namespace fathom::measure
