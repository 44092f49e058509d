// Captures one command: everything between the command line and the diagnosis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/launcher/manifest.h"
#include "capture/launcher/recording.h"

namespace fathom::cli {

/// Everything on the command line of `fathom run`.
struct RunWish {
  std::vector<std::string> command;
  std::string output;
  std::string name;
  capture::Recording recording;
  double telemetry_hz = 10;
  std::optional<double> price;   ///< Money per kilowatt-hour.
  std::optional<double> carbon;  ///< Grams of CO2 per kilowatt-hour.
  bool no_diagnose = false;
  bool no_overhead = false;
  bool quiet = false;
};

struct Captured {
  int code = 0;      ///< What to return to the shell.
  bool ran = false;  ///< The program was started.
  bool gave_up = false;
  std::string folder;  ///< Of the session, as to be shown.
  capture::Manifest manifest;
};

/// Runs the command and records it. Says what goes wrong; its results are in the folder.
Captured capture_run(const RunWish& wish);

}  // namespace fathom::cli
