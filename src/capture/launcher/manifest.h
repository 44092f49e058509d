// manifest.json: the conditions and the outcome of a run (docs/capture.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/launcher/conditions.h"
#include "capture/launcher/process_tree.h"
#include "capture/launcher/recording.h"
#include "capture/system/host.h"

namespace fathom::capture {

/// Something that was not recorded, why, and what would allow it.
struct NotRecorded {
  std::string what;
  std::string why;
  std::string remedy;  ///< With the least rights; "" where nothing would help.
  std::string lost;    ///< The numbers that are missing in consequence.
};

struct GpuFacts {
  std::string name;
  std::string uuid;
  std::string driver;
  std::int64_t memory = 0;  ///< Bytes; 0: unknown.
  double power_limit = 0;   ///< Watts; 0: unknown.
};

/// A look at the program that was taken because it did nothing any more.
struct HangDump {
  std::string file;   ///< In the session folder; beside it lies the same as JSON.
  std::string why;    ///< "no step has ended for 8 s, where the median is 400 ms"
  std::string where;  ///< The thread that it hangs in, and its innermost function; may be empty.
};

/// "no step has ended for 8 s …: thread 12 python waits (lock) in acquire (train.py:12);
/// hang-1.txt".
std::string sentence_of(const HangDump& dump);

struct Manifest {
  std::string version;  ///< Of Fathom.
  std::string name;
  std::vector<std::string> command;  ///< Redacted.
  std::string directory;
  std::vector<std::pair<std::string, std::string>> environment;
  Recording recording;
  double telemetry_hz = 0;
  std::optional<double> price;   ///< Money per kilowatt-hour.
  std::optional<double> carbon;  ///< Grams of CO2 per kilowatt-hour.
  std::optional<Git> git;
  Host host;
  Cgroup cgroup;
  std::optional<std::array<double, 3>> load_at_start;
  std::optional<std::array<double, 3>> load_at_end;
  std::vector<GpuFacts> gpus;
  std::int64_t started_unix = 0;  ///< ns.
  std::int64_t ended_unix = 0;    ///< ns; 0: has not ended.
  std::optional<int> status;      ///< As of waitpid().
  bool killed_for_memory = false;
  std::vector<Process> processes;
  std::string
      overhead;  ///< JSON; empty: nothing was measured. See engine/diagnosis/measured_overhead.h.
  std::vector<NotRecorded> not_recorded;
  std::vector<HangDump> dumps;
};

std::string to_json(const Manifest& manifest);

/// Replaces <folder>/manifest.json as a whole. Errors: io.
Result<void> write_manifest(const std::string& folder, const Manifest& manifest);

}  // namespace fathom::capture
