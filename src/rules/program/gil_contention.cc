// gil-contention: threads of Python wait for the global interpreter lock.
#include <optional>

#include "base/quantity_text.h"
#include "rules/common/contention.h"
#include "rules/common/machine.h"
#include "rules/common/sampled.h"

namespace fathom {
namespace gil_contention_rule {
namespace {

constexpr std::string_view kDoc =
    "Only one thread of a CPython interpreter runs Python at a time; the others wait for the "
    "global interpreter lock (GIL), which is handed on every 5 ms (sys.getswitchinterval()). A "
    "wait is "
    "known by the address that the thread waits at: it lies inside the interpreter's own struct. "
    "Fires where 0.3 threads or more wait for it on the average, their time in the run queue left "
    "out, but in the title, which has the waits of `fathom waits`. It is no verdict where more of "
    "them wait for a processor: who holds the lock waits, too. "
    "No saving is predicted: it depends on how much of the work can leave the interpreter.";

Outcome check(const RuleContext& rules) {
  const SampledProgram program(rules);
  if (!program.judged()) return program.unjudged();
  const ProgramTime& time = program.time();
  std::optional<Finding> finding =
      contention_finding(program, {.wait = WaitClass::gil,
                                   .waiting = time.gil_waiters,
                                   .waited = time.gil,
                                   .lock = "Python's global interpreter lock",
                                   .locks = "it"});
  if (!finding) return std::vector<Finding>{};
  finding->counter_evidence =
      "The threads were on a processor for " + plain_text(time.average(time.on_cpu)) +
      " of a processor's time: where that is well above 1, part of the work leaves the lock.";
  finding->fix = {.text =
                      "Let processes do what threads do (ProcessPoolExecutor, multiprocessing), "
                      "or move the loop into code that gives the lock back (numpy, Cython with "
                      "nogil); from Python 3.13 on there are builds without the lock. Caveat: "
                      "processes do not share objects, so arguments and results are copied.",
                  .before = "ThreadPoolExecutor(n)",
                  .after = "ProcessPoolExecutor(n)"};
  finding->verify = "fathom threads TRACE --sort -gil_ns";
  return std::vector<Finding>{*std::move(finding)};
}

}  // namespace
}  // namespace gil_contention_rule

Rule gil_contention() {
  return {.id = "gil-contention",
          .title = "Threads that wait for Python's global interpreter lock",
          .doc = gil_contention_rule::kDoc,
          .check = gil_contention_rule::check,
          .every_step = true,
          .without_operators = true};
}

}  // namespace fathom
