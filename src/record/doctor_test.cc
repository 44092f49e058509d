// The lines of the doctor on the machine that the test runs on.
#include "record/doctor.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fathom::record {
namespace {

TEST(DoctorChecks, TheLinesOfASectionStandTogether) {
  std::set<std::string> begun;
  std::string section;
  for (const capture::Check& check : doctor_checks()) {
    if (check.section == section) continue;
    section = check.section;
    EXPECT_TRUE(begun.insert(section).second) << section;
  }
  for (const char* const expected : {"GPU", "Python", "Telemetry"})
    EXPECT_TRUE(begun.contains(expected)) << expected;
}

TEST(DoctorChecks, WhatIsMissingNamesWhatIsLost) {
  for (const capture::Check& check : doctor_checks()) {
    if (check.section != "Telemetry" || check.state != capture::CheckState::missing) continue;
    EXPECT_FALSE(check.lost.empty()) << check.what;
  }
}

TEST(DoctorChecks, TelemetryOfGpusIsNamedOnce) {
  const std::vector<capture::Check> checks = doctor_checks();
  EXPECT_EQ(std::ranges::count(checks, "GPU telemetry", &capture::Check::what), 0);
  const bool missing =
      std::ranges::any_of(checks, [](const capture::Check& check) { return check.what == "NVML"; });
  const bool found = std::ranges::any_of(
      checks, [](const capture::Check& check) { return check.what.starts_with("device "); });
  EXPECT_NE(missing, found);
}

}  // namespace
}  // namespace fathom::record
