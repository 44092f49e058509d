// What to record, as asked on the command line and as handed to the program.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fathom::capture {

/// torch.profiler's schedule, in steps.
struct Schedule {
  std::int64_t wait = 1;
  std::int64_t warmup = 1;
  std::int64_t active = 3;
  std::int64_t repeat = 1;  ///< 0: until the program ends.
  std::int64_t skip_first = 0;
};

inline constexpr std::array<std::string_view, 11> kExtras = {
    "shapes", "stacks", "memory",    "functions",   "functions=c", "functions=calls",
    "lines",  "flops",  "libraries", "gpu-metrics", "samples"};
/// What threads do, looked at from outside; "samples=250" so often a second, "samples=0" never.
inline constexpr std::string_view kSamples = "samples";
/// Functions of Python and those of C that it calls: more than kExtras' "functions", which it
/// holds.
inline constexpr std::string_view kFunctionsOfC = "functions=c";
/// The same, and each call that takes long as a slice; "functions=calls:50us" of that long at
/// least.
inline constexpr std::string_view kCalls = "functions=calls";
/// A shorter call is none of kCalls. What is written of a call takes 2 µs: of calls of this length
/// 2 % of a thread's time, for each level of calls.
inline constexpr Duration kLeastCall = std::chrono::microseconds(100);
/// Those that torch.profiler records with its operators.
inline constexpr std::array<std::string_view, 4> kTorchExtras = {"shapes", "stacks", "memory",
                                                                 "flops"};
inline constexpr std::array<std::string_view, 6> kStepKinds = {"auto", "optimizer", "module",
                                                               "time", "loader",    "mark"};
/// What is kept of the text of source files whose lines are recorded: all, nothing, or all but what
/// texts and comments say.
inline constexpr std::array<std::string_view, 3> kSourceKinds = {"on", "off", "redacted"};
/// off: no CUDA from the inside. always: also where PyTorch has a profiler of its own.
inline constexpr std::array<std::string_view, 3> kCudaModes = {"auto", "off", "always"};

/// What the user asked for; docs/capture.md has the page for it.
struct Recording {
  std::vector<std::string> with;  ///< Of kExtras, in their order; kSamples and kCalls as typed.
  Schedule steps;
  std::string step_by = "auto";  ///< Of kStepKinds.
  Duration delay{};
  std::optional<Duration> duration;
  std::string range;      ///< Annotation whose stretches are recorded; empty: all.
  std::string on_signal;  ///< "SIGUSR2": recording starts and stops with it; empty: none.
  bool from_start = true;
  std::int64_t max_memory = std::int64_t{256} << 20;
  std::int64_t max_size = std::int64_t{4} << 30;
  std::optional<Duration> last;       ///< Keep only the newest stretch of this length.
  bool overhead = true;               ///< Measure what recording costs.
  std::string cuda = "auto";          ///< Of kCudaModes.
  double gpu_metrics_hz = 1000;       ///< Of the extra "gpu-metrics".
  std::vector<std::string> lines_of;  ///< Modules whose lines are recorded, too.
  std::string sources = "on";         ///< Of kSourceKinds.
  bool graph_nodes = false;           ///< Each node of a CUDA graph, not the graph as a whole.
};

/// "shapes,stacks"; each name once. Errors: invalid_argument, with the names that there are.
Result<std::vector<std::string>> parse_extras(std::string_view text);
/// The same of a program that runs already, of which torch.profiler alone can be asked. Errors:
/// also those that only `fathom run` can record.
Result<std::vector<std::string>> parse_torch_extras(std::string_view text);
/// How long calls are that are recorded one by one; unset: none is.
std::optional<Duration> least_call_of(const Recording& recording);
/// How threads are sampled.
struct Sampling {
  double hz = 100;     ///< 0: not at all.
  bool asked = false;  ///< Else only where PyTorch's profiler records nothing.
};
Sampling sampling_of(const Recording& recording);

/// "wait=1,warmup=2,active=5"; what is not named keeps its default. Errors: invalid_argument.
Result<Schedule> parse_schedule(std::string_view text);
/// "USR1", "SIGUSR1", "usr1" or "10" as "SIGUSR1". Errors: invalid_argument.
Result<std::string> parse_signal(std::string_view text);

/// FATHOM_OPTIONS: in one line for the environment, or with indentation for the manifest.
std::string to_json(const Recording& recording, bool indented = false);

}  // namespace fathom::capture
