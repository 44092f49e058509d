// Sampler: what the threads of a process tree do, by looking at them in regular steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/proc_file.h"
#include "base/result.h"
#include "sample/process_sampler.h"

namespace fathom::sample {

/// How the looking went.
struct SamplerState {
  StackCounts counts;               ///< Of stacks of Python.
  std::int64_t rounds = 0;          ///< How often all threads were looked at.
  std::int64_t late = 0;            ///< Rounds that were left out: those before took longer.
  std::int64_t cost = 0;            ///< ns of a processor that looking has taken.
  std::vector<std::string> unread;  ///< Processes without stacks, and why.
  /// That the processes may use which ran most of the time; 0: not known.
  int processors = 0;
  std::int64_t with_torch = 0;  ///< Processes that were left to PyTorch's profiler.
  native::WatchCounts native;
};

/// Looks at all threads of the process and of those below it in regular steps, with some chance in
/// them, and hands the sink what each of them spent. One thread at a time.
class Sampler {
 public:
  static constexpr std::size_t kManyThreads = 200;
  struct Options {
    std::int64_t period = 10'000'000;  ///< ns.
    bool alone = false;                ///< Without the processes below.
    bool fresh = false;                ///< The process has just been started: all of it counts.
    bool without_torch = false;        ///< Ends with processes that have loaded PyTorch.
    /// Of a processor: where looking has cost more, but for some ms once, the steps become longer,
    /// and native stacks are left out. 0: whatever it costs.
    double most_cost = 0;
    /// The same where kManyThreads or more are looked at; with fewer, in proportion.
    double most_cost_of_many = 0;
    /// Native functions: none, those of processes without Python, these and those below Python's
    /// (see native::below_python), or all.
    enum class Native : std::uint8_t {
      none,
      without_python,
      below_python,
      all
    } native = Native::none;
  };

  /// `sink` must outlive it. Errors: those of python_of for the process itself.
  static Result<std::unique_ptr<Sampler>> open(pid_t root, const Options& options,
                                               SampleSink& sink);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Looks for `duration` ns, or until the process has ended or `stop` returns true.
  void run(std::int64_t duration, const std::function<bool()>& stop);
  /// One look at all threads; without `all` see ProcessSampler::look().
  void look(bool all = true);
  /// Hands the sink what was not given yet. Call once, at the end.
  void finish();
  /// Of processes that have ended, or of all after finish().
  [[nodiscard]] SamplerState state() const;
  /// Why processes that are there have no stacks of Python.
  [[nodiscard]] std::vector<std::string> unread() const;

 private:
  explicit Sampler(pid_t root, const Options& options, SampleSink& sink);
  void find_processes();
  void find_children(std::int64_t now);
  void add(pid_t pid);
  void look_for_processes();
  std::int64_t newest_task();
  bool wait_until(std::int64_t when, const std::function<bool()>& stop);
  [[nodiscard]] bool is_left_out(pid_t pid, std::int64_t started) const;
  void end(ProcessSampler& process);
  [[nodiscard]] bool within_limit() const;
  [[nodiscard]] bool is_within(std::int64_t cost) const;
  [[nodiscard]] double most_cost() const;

  pid_t root_;
  Options options_;
  SampleSink& sink_;
  FileBudget files_;
  native::Watch watch_;
  RereadFile load_;  ///< /proc/loadavg: it ends with the newest task of the machine.
  std::string buffer_;
  std::map<pid_t, std::unique_ptr<ProcessSampler>> processes_;
  std::map<pid_t, std::int64_t> left_out_;  ///< With when they started.
  SamplerState state_;
  /// What each process that has ended was ready to run, and where it might.
  std::vector<std::pair<std::int64_t, cpu_set_t>> ran_;
  std::int64_t newest_task_ = -1;   ///< When all processes were looked through.
  std::int64_t newest_child_ = -1;  ///< When children were looked for.
  std::int64_t begin_ = 0;          ///< Of run().
  std::int64_t cost_before_ = 0;    ///< ns of a processor that this thread had used by then.
  std::int64_t next_newest_ = 0;    ///< When the machine's newest task is asked for.
  std::int64_t next_tree_ = 0;
  std::int64_t next_children_ = 0;
  std::int64_t children_until_ = -1;
};

}  // namespace fathom::sample
