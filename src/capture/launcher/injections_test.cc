// Another tool's injection is a loss where there is a driver, however that shows.
#include "capture/launcher/injections.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "capture/doctor/doctor_test_support.h"

namespace fathom::capture {
namespace {

/// Why CUDA is not recorded where a tool has its variable; empty where that is no loss.
std::string refused(const std::vector<std::string>& files, bool nvml_starts) {
  const MadeMachine machine;
  for (const std::string& file : files) machine.put(file, "");
  Surroundings around = machine.around(nvml_starts);
  around.variable = [](const char* name) -> const char* {
    return std::string_view(name) == "CUDA_INJECTION64_PATH" ? "/tools/libother.so" : nullptr;
  };
  const std::string session = machine.root() + "/session";
  std::filesystem::create_directory(session);
  const Injections made = prepare_injections(session, {}, around);
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
