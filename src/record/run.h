// Records one command from its start to its end, into a session folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/launcher/manifest.h"
#include "capture/launcher/recording.h"
#include "record/hang_watch.h"
#include "record/messages.h"

namespace fathom::record {

/// What to run, and how to record it.
struct RunOptions {
  std::vector<std::string> command;
  std::string output;  ///< The session folder, new or empty; "" for one under fathom-runs/.
  std::string name;    ///< What to call the run; "" for a name from the command.
  capture::Recording recording;
  double telemetry_hz = 10;  ///< 0 for none.
  /// The program is looked at when it does nothing for so long, or when a step does not end; 0:
  /// never.
  Duration hang = std::chrono::seconds(60);
  ShowDump show_dump;            ///< What is then written; empty: nothing.
  std::optional<double> price;   ///< Money per kilowatt-hour.
  std::optional<double> carbon;  ///< Grams of CO2 per kilowatt-hour.
  std::string version;           ///< Of Fathom, for the manifest.
};

struct RunOutcome {
  /// What a shell would return: the program's own, 128 + N when signal N ended it, 127 and 126 when
  /// it could not be started.
  int exit_code = 0;
  bool started = false;  ///< Else the reason was reported as an error.
  std::string folder;    ///< Of the session, as to be shown.
  capture::Manifest manifest;
};

/// Runs the command and records it; returns when it and its children have ended. Holds the signals
/// of the process meanwhile: call it before other threads start, and from one thread at a time.
/// Errors: there is no folder or file to record into, and the command was not run.
Result<RunOutcome> record_run(const RunOptions& options, const Messages& messages);

}  // namespace fathom::record
