// How a Python that could not be recorded is reported.
#include "capture/launcher/not_recorded.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "capture/doctor/doctor_test_support.h"

namespace fathom::capture {
namespace {

TEST(NotRecorded, APythonThatIsTooOldIsTheReason) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_old_XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  std::ofstream(folder + "/python-7.txt") << "2.7.18";
  Manifest manifest;
  manifest.telemetry_hz = 10;
  manifest.processes.push_back({.pid = 7, .name = "python2", .command = {"python2", "train.py"}});
  const std::vector<NotRecorded> limits = limits_of(manifest, folder);
  std::filesystem::remove_all(folder);
  const bool said = std::ranges::any_of(limits, [](const NotRecorded& limit) {
    return limit.why.find("Python 2.7.18") != std::string::npos &&
           limit.remedy == "run it with Python 3.8 or later";
  });
  EXPECT_TRUE(said);
}

TEST(NotRecorded, AnOlderPythonBesideARecordedOneIsNamedToo) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_old_XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  std::ofstream(folder + "/python-8.txt") << "2.7.18";
  std::ofstream(folder + "/python-9.txt") << "3.6.15";
  std::ofstream(folder + "/process-7.fathom") << "";
  Manifest manifest;
  manifest.telemetry_hz = 10;
  manifest.processes.push_back({.pid = 7, .name = "python", .command = {"python", "train.py"}});
  std::string why;
  for (const NotRecorded& limit : limits_of(manifest, folder)) why += limit.why + "\n";
  std::filesystem::remove_all(folder);
  EXPECT_NE(why.find("2 processes of the program ran with Python 2.7.18 and 3.6.15, and the "
                     "recorder inside a program needs Python 3.8 or later; processes, telemetry"),
            std::string::npos)
      << why;
}

TEST(NotRecorded, ARunInsideOfTheRunIsTheReason) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_inner_XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  const auto remedies = [&](std::vector<std::string> command) {
    Manifest manifest;
    manifest.telemetry_hz = 10;
    manifest.processes.push_back({.pid = 7, .name = "fathom", .command = std::move(command)});
    manifest.processes.push_back({.pid = 8, .name = "python", .command = {"python", "train.py"}});
    std::string all;
    for (const NotRecorded& limit : limits_of(manifest, folder)) all += limit.remedy + "\n";
    return all;
  };
  EXPECT_NE(remedies({"/usr/bin/fathom", "run", "-o", "inner", "--", "python", "train.py"})
                .find("fathom diagnose inner\n"),
            std::string::npos);
  EXPECT_NE(remedies({"fathom", "run", "--", "python", "-o", "x"}).find("leave one of the two out"),
            std::string::npos);
  EXPECT_EQ(remedies({"sh", "run.sh"}).find("fathom diagnose"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(NotRecorded, FunctionsOfANativeProgramThatAreSampledAreNotMissing) {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom_native_XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  Manifest manifest;
  manifest.telemetry_hz = 10;
  manifest.processes.push_back({.pid = 7, .name = "solver", .command = {"./solver"}});
  EXPECT_EQ(limits_of(manifest, folder).front().what,
            "kernels, and single calls of functions, of the native program");
  EXPECT_EQ(limits_of(manifest, folder).front().lost, "kernels, counts of calls, steps");
  std::ofstream(folder + "/process-7.fathom") << "";
  EXPECT_EQ(limits_of(manifest, folder).front().lost, "kernels, counts of calls")
      << "it counts its steps itself";
  manifest.recording.with = {"samples=0"};
  EXPECT_EQ(limits_of(manifest, folder).front().what,
            "functions and kernels of the native program");
  std::filesystem::remove_all(folder);
}

/// What is not recorded of a program without Python on a machine with these files.
std::string lost_on(const std::vector<std::string>& files, bool nvml_starts) {
  const MadeMachine machine;
  for (const std::string& file : files) machine.put(file, "");
  Manifest manifest;
  manifest.telemetry_hz = 10;
  manifest.recording.with = {"gpu-metrics"};
  std::string all;
  for (const NotRecorded& limit : limits_of(manifest, machine.root(), machine.around(nvml_starts)))
    all += limit.what + ": " + limit.why + "\n";
  return all;
}

TEST(NotRecorded, AContainerThatIsNotShownTheDriversFilesOfProcHasADriver) {
  const std::string missing = "no NVIDIA driver";
  const std::string nobody = "no process of the program used CUDA";
  // Its device files are none: what a driver without them loses is named.
  const std::string files = lost_on({"/dev/nvidiactl"}, false);
  EXPECT_EQ(files.find(missing), std::string::npos) << files;
  EXPECT_NE(files.find("hardware counters of the GPU: " + nobody), std::string::npos) << files;
  EXPECT_NE(files.find("device files: 0 of 0 can be opened"), std::string::npos) << files;
  for (const std::string& all : {lost_on({"/dev/nvidiactl", "/dev/nvidia0"}, false),
                                 lost_on({"/dev/dxg"}, false), lost_on({}, true)}) {
    EXPECT_EQ(all.find(missing), std::string::npos) << all;
    EXPECT_NE(all.find(nobody), std::string::npos) << all;
    EXPECT_EQ(all.find("device files"), std::string::npos) << all;
  }
  const std::string none = lost_on({}, false);
  EXPECT_NE(none.find("hardware counters of the GPU: " + missing), std::string::npos) << none;
  EXPECT_EQ(none.find("device files"), std::string::npos) << none;
}

}  // namespace
}  // namespace fathom::capture
