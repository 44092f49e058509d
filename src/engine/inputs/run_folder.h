// A session folder of `fathom run`: which recordings it holds, and each of them as one trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/held_files.h"
#include "base/result.h"
#include "engine/inputs/shared_files.h"
#include "formats/format.h"

namespace fathom {

/// One recording of a session folder: what one process, or one rank, did.
struct RunRecording {
  std::string folder;  ///< The session folder.
  /// The text of its manifest.json, or null. Shared: it may be long, and each rank is read by it.
  std::shared_ptr<const std::string> manifest;
  std::string base;  ///< The file that decides about time; other files are added to it.
  std::vector<std::string> parts;       ///< Files whose records are added, in this order.
  std::vector<std::string> conditions;  ///< JSON files whose contents become facts.
  std::vector<std::string> aside;  ///< Capture files of the folder that belong to no recording.
  std::vector<std::string> kept;   ///< Files of its process that other tools read.
  std::int64_t pid = 0;            ///< Of the base; 0 for the launcher's.
  /// Where the folder holds several programs, which of them: "train.py (process 12)". Ranks of one
  /// program have none.
  std::string program;
  bool torch = false;  ///< The base is a trace of torch.profiler.
  /// Reads the parts that are of all recordings of the folder; null where there is one recording.
  std::shared_ptr<SharedFiles> shared;
  /// Its files that are open since the recordings of the folder were found, and those of others.
  std::shared_ptr<HeldFiles> held;
};

/// The fact that names RunRecording::program.
inline constexpr std::string_view kProgramFact = "program";

/// The recordings of a folder that `fathom run` made, by process and number; unset for any other
/// folder or path. Such a folder is known by its manifest, or, where that is missing or damaged, by
/// the capture files in it. With traces of torch.profiler, each is one recording, together with the
/// capture files of its process, of its children and of the launcher; without, each rank, else all
/// capture files together. Empty where nothing was recorded. Opens the manifest once, and
/// once each capture file of whose process the manifest does not say enough; what it finds, and
/// these files while they are still open, is all that read_run() needs.
std::optional<std::vector<RunRecording>> find_recordings(const std::string& folder);

/// Reads and merges one; opens each of its files that is not open yet, those of all recordings once
/// for all. What is missing or damaged is reported in facts and the import log; an Error means that
/// neither the base nor any part could be read.
Result<Trace> read_run(const RunRecording& recording, const ReadOptions& options);

}  // namespace fathom
