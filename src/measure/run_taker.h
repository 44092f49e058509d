// Runs a command once: prepares, starts, watches, and keeps what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/bench_run.h"
#include "measure/child.h"
#include "record/step_watch.h"

namespace fathom::measure {

/// What is run.
struct Commanded {
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< NAME=VALUE, on top of ours.
  std::string name;                      ///< For messages and folders: "base", "batch=8".
  std::string prepare{};                 ///< For sh -c, before each run; not timed. "" for none.
  std::vector<std::string> prepare_environment{};  ///< As above, of that.
};

/// How runs are made.
struct RunHow {
  ChildOptions child;  ///< Its time is that of `prepare`, too.
  std::string keep;    ///< Session folders of the runs lie here; "" for none.
  Given given;         ///< Of each run.
};

/// One run after the other. Holds the signals of the process while it lives (ChildRunner).
class RunTaker {
 public:
  explicit RunTaker(RunHow how);

  /// From the next run on. Errors: io, where there is no room for what is recorded.
  Result<void> watch(const record::StepWatchOptions& options);
  void stop_watching() { watch_.reset(); }
  [[nodiscard]] const record::StepWatch* watching() const { return watch_.get(); }

  /// A run that ended, well or not. Unset where a signal to us ended it, and where --prepare failed
  /// (then failure() is set). Errors: it cannot be started. `pair` and `kind` name its folder.
  Result<std::optional<BenchRun>> take(const Commanded& what, const std::string& folder);

  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  [[nodiscard]] std::size_t taken() const { return taken_; }
  /// Did the kernel end a process of our control group for memory during the last run?
  [[nodiscard]] bool killed_for_memory() const { return killed_; }
  /// The signal that asked us to end; 0 for none.
  int interrupted() { return runner_.interrupted(); }

 private:
  /// False where there is nothing to go on with.
  Result<bool> prepare(const Commanded& what);

  RunHow how_;
  ChildRunner runner_;
  std::unique_ptr<record::StepWatch> watch_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<Failure> failure_;
  std::size_t taken_ = 0;
  bool killed_ = false;
};

/// A program with fewer is not one that goes on in steps.
inline constexpr std::size_t kFewestSteps = 3;

/// The folder of a run among those of its side: "001".
std::string run_folder(std::size_t number);

/// A name as that of one folder: "p=a_b-1234…" for "p=a/b". Where something was replaced, or cut
/// from a long one, a hash tells it from others.
std::string folder_named(const std::string& name);

/// "the base (sh -c false) ended with exit code 1, in run 3".
std::string failure_text(const std::string& what, const std::string& command, const ChildRun& ran,
                         std::size_t run);

}  // namespace fathom::measure
