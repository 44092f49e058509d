// Another tool's injection is a loss where there is a driver, however that shows.
#include "capture/launcher/injections.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fathom::capture {
namespace {

/// Why CUDA is not recorded where a tool has its variable; empty where that is no loss.
std::string refused(const std::vector<std::string>& files, bool nvml_starts) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_inject_XXXXXX").string();
  const std::string root = mkdtemp(pattern.data());
  for (const std::string& file : files) {
    std::filesystem::create_directories(std::filesystem::path(root + file).parent_path());
    std::ofstream(root + file) << "";
  }
  Surroundings around;
  around.root = root;
  around.variable = [](const char* name) -> const char* {
    return std::string_view(name) == "CUDA_INJECTION64_PATH" ? "/tools/libother.so" : nullptr;
  };
  around.nvml_starts = nvml_starts ? +[] { return true; } : +[] { return false; };
  std::filesystem::create_directory(root + "/session");
  const Injections made = prepare_injections(root + "/session", {}, around);
  std::filesystem::remove_all(root);
  EXPECT_TRUE(std::ranges::none_of(made.variables, [](const std::string& variable) {
    return variable.starts_with("CUDA_INJECTION64_PATH");
  }));
  for (const NotRecorded& lost : made.not_recorded)
    if (lost.what.find("CUDA") != std::string::npos) return lost.why;
  return {};
}

TEST(Injections, ToolsThatTakeCudaAreNamedWhereThereIsADriverInWhicheverFiles) {
  const std::string why = "another tool takes them: CUDA_INJECTION64_PATH is /tools/libother.so";
  EXPECT_EQ(refused({"/proc/driver/nvidia/version"}, false), why);
  // As containers and WSL have it.
  EXPECT_EQ(refused({"/dev/nvidiactl"}, false), why);
  EXPECT_EQ(refused({"/dev/dxg"}, false), why);
  EXPECT_EQ(refused({}, true), why);
  EXPECT_EQ(refused({}, false), "");
}

}  // namespace
}  // namespace fathom::capture
