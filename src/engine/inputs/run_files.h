// The files of a session folder, recognised by their names (docs/capture-reference.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

inline constexpr std::string_view kRunManifest = "manifest.json";

/// What a file's name says: "torch-12-1.pt.trace.json" is of process 12, number 1.
struct NamedFile {
  std::string path;
  std::int64_t pid = 0;
  std::int64_t number = 0;
};

struct RunFiles {
  std::vector<NamedFile> torch;       // by pid and number
  std::vector<NamedFile> captures;    // of a process each; the older half of a ring first
  std::vector<std::string> launcher;  // monitor*.fathom
  std::vector<NamedFile> conditions;  // process-*.json
  std::vector<NamedFile> for_others;  // memory-*, functions-*.prof: what other programs show
  std::vector<std::string> others;    // further capture files
  bool manifest = false;

  [[nodiscard]] bool any_capture() const {
    return !captures.empty() || !launcher.empty() || !others.empty();
  }
};

/// Those that lie in the folder, subfolders left out.
RunFiles run_files(const std::string& folder);

}  // namespace fathom
