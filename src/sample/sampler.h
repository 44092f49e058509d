// Sampler: where the threads of a process tree spend their processor time, by looking at their
// stacks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "sample/process_look.h"

namespace fathom::sample {

/// How many stacks were looked at, by what is known of them.
struct StackCounts {
  std::int64_t whole = 0;
  std::int64_t shortened = 0;
  std::int64_t unread = 0;
};

/// Threads that had this stack, and the processor time that they used until they were looked at.
struct WeighedStack {
  std::vector<FrameLook> frames;  ///< The outermost first. Empty: no Python function, or unread.
  StackState state = StackState::whole;
  bool python = true;       ///< False for threads without Python.
  std::int64_t on_cpu = 0;  ///< ns.
  std::int64_t samples = 0;
};

struct Samples {
  std::vector<WeighedStack> stacks;  ///< The most processor time first.
  StackCounts counts;                ///< Of threads of Python that had run.
  std::int64_t rounds = 0;           ///< How often all threads were looked at.
  std::int64_t late = 0;            ///< Rounds that were left out because those before took longer.
  std::int64_t on_cpu = 0;          ///< ns of all threads: the sum over all stacks.
  std::vector<std::string> unread;  ///< Processes without stacks, and why.
};

/// Looks at all threads of the process and of those below it in regular steps, with some chance in
/// them. A thread that has not run since the last look is not read. The others get a stack, whose
/// weight is what the scheduler says that they have run since then: so the weights sum to the
/// scheduler's time. One thread at a time.
class Sampler {
 public:
  struct Options {
    std::int64_t period = 10'000'000;  ///< ns.
    bool alone = false;                ///< Without the processes below.
  };

  /// Errors: those of python_of for the process itself.
  static Result<std::unique_ptr<Sampler>> open(pid_t root, const Options& options);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Looks for `duration` ns, or until the process has ended or `stop` returns true.
  void run(std::int64_t duration, bool (*stop)());
  /// One look at all threads.
  void look();
  /// What was found so far.
  [[nodiscard]] Samples samples() const;

 private:
  class Process;
  explicit Sampler(pid_t root, const Options& options);
  void find_processes();
  void add(pid_t pid, PythonOf python);

  pid_t root_;
  Options options_;
  std::map<pid_t, std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> ended_;
  std::int64_t rounds_ = 0;
  std::int64_t late_ = 0;
};

}  // namespace fathom::sample
