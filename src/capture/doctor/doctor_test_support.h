// MadeMachine: files in place of a machine's /proc, /dev and /sys, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <stdlib.h>

#include "capture/doctor/checks.h"

namespace fathom::capture {

/// An empty folder that goes away with its owner.
class MadeMachine {
 public:
  MadeMachine() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "fathom_machine_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~MadeMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  MadeMachine(const MadeMachine&) = delete;
  MadeMachine& operator=(const MadeMachine&) = delete;

  [[nodiscard]] const std::string& root() const { return root_; }
  /// With the folders above it. `path` begins with a slash.
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// Its files, without a variable of the environment.
  [[nodiscard]] Surroundings around(bool nvml_starts) const {
    Surroundings around;
    around.root = root_;
    around.variable = [](const char*) -> const char* { return nullptr; };
    around.nvml_starts = nvml_starts ? +[] { return true; } : +[] { return false; };
    return around;
  }

 private:
  std::string root_;
};

}  // namespace fathom::capture
