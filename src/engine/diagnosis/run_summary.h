// The run of a session folder, beside its trace: processes, resources, energy, what is
// missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "analysis/machine/recording_overhead.h"
#include "analysis/machine/run_usage.h"
#include "analysis/machine/thread_time.h"
#include "analysis/machine/timed_steps.h"
#include "analysis/machine/unrecorded.h"
#include "analysis/machine/whole_run.h"

namespace fathom {

/// A look at the program that was taken because it did nothing any more.
struct HangLook {
  std::string file;   ///< In the session folder.
  std::string why;    ///< "no step has ended for 8 s, where the median is 400 ms"
  std::string where;  ///< The thread that it hung in, and its innermost function; may be empty.
};

/// A stretch of the program that it or its recorder named, summed over the run.
struct NamedTime {
  std::string name;
  Duration time{};
  std::uint64_t count = 0;
};

struct ProcessLine {
  ProcessRun run;
  std::string role;
  std::string command;
};

struct RunSummary {
  std::string name;     ///< As the run is called.
  std::string program;  ///< Which of several programs of the run this is, else empty.
  std::string command;  ///< Redacted.
  std::vector<std::string> command_words;
  std::string exit;  ///< The main process's: code or signal; empty: it had no end yet.
  RunUsage usage;
  std::optional<double> price;  ///< Money for the energy of the run.
  std::optional<double> co2_g;
  std::vector<ProcessLine> processes;         ///< The main one, then by when they began.
  std::vector<NamedTime> phases;              ///< Of the main process, in order.
  std::vector<NamedTime> ranges;              ///< Annotations, longest first; at most 5.
  std::optional<NamedTime> collector;         ///< Pauses of Python's garbage collector.
  std::uint64_t threads = 0;                  ///< That the program started.
  std::vector<NamedTime> functions;           ///< By own time, longest first; at most 5.
  std::vector<Unrecorded> not_recorded;       ///< Of the manifest and of the processes.
  std::vector<HangLook> hangs;                ///< In their order.
  std::optional<TimedSteps> timed;            ///< The steps of the whole run.
  WholeRun whole;                             ///< Where its time went; of the process that stepped.
  std::optional<RecordingOverhead> overhead;  ///< What recording the program's steps cost.
  /// True where nothing inside the program was recorded that could be diagnosed: no operators, no
  /// device.
  bool plain = false;
  std::optional<ThreadTime> main_thread;  ///< Of a plain run: of the thread that steps, or main.
  /// What threads did in the requests that they answered; its `steps` are requests.
  std::optional<ThreadTime> request_time;
};

/// Unset for a trace that is of no session folder. `price` and `carbon` per kilowatt-hour,
/// negative: as recorded.
std::optional<RunSummary> summarize_run(const Context& context, double price, double carbon);

/// "2", "0.26".
std::string processors_text(double processors);

/// In place of a verdict, where nothing inside the program was recorded: how much it computed.
std::string plain_verdict(const RunSummary& run);

}  // namespace fathom
