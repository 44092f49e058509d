#include "engine/diagnosis/harm.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analysis/health/recorder_faults.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "reports/report.h"
#include "store/import_log.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

bool is_column(std::string_view report, std::string_view column) {
  return std::ranges::any_of(all_reports(), [&](const Report& each) {
    if (report != "*" && report != each.id) return false;
    return column == "*" || std::ranges::any_of(each.columns, [&](const ColumnSpec& known) {
             return known.name == column;
           });
  });
}

bool is_number(std::string_view number) {
  if (std::ranges::count(numbers_beside_reports(), number) != 0) return true;
  const std::size_t dot = number.find('.');
  return dot != std::string_view::npos && is_column(number.substr(0, dot), number.substr(dot + 1));
}

/// Of every check, whatever the recording: those of health that are always made, of repairs and of
/// the recorder.
std::set<std::string> known_checks() {
  TraceBuilder trace;
  trace.step(0, 0, 10'000);
  trace.op("aten::mm", 0, 9000);
  const Session session(trace.build(), "trace.json");
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  std::set<std::string> known;
  if (diagnosis.ok())
    for (const HealthCheck& check : diagnosis->health.checks) known.emplace(check.id);
  for (std::size_t i = 0; i < kRepairs; ++i) known.emplace(info(static_cast<Repair>(i)).id);
  for (const RecorderFault& fault : recorder_faults()) known.emplace(fault.id);
  // Made only where there is something to say.
  known.insert({"told_otherwise", "clocks_of_sources", "recorded_twice"});
  return known;
}

TEST(Harm, NamesNumbersThatThereAre) {
  EXPECT_FALSE(is_number("kernels.no_such_column"));
  EXPECT_FALSE(is_number("no_such_report.*"));
  for (const Harm& harm : harms()) {
    for (const std::string_view number : harm.numbers)
      EXPECT_TRUE(is_number(number)) << harm.check << " harms " << number;
  }
}

TEST(Harm, HasEveryCheckThatCanFail) {
  const std::set<std::string> known = known_checks();
  ASSERT_GT(known.size(), 40U);
  std::set<std::string> named;
  for (const Harm& harm : harms()) {
    EXPECT_TRUE(known.contains(std::string(harm.check))) << "no check " << harm.check;
    EXPECT_TRUE(named.emplace(harm.check).second) << harm.check << " has two rows";
  }
  for (const std::string& check : known)
    EXPECT_TRUE(named.contains(check)) << check << " has no row";
}

TEST(Harm, WhatFollowsFromAHarmedNumberIsHarmedToo) {
  for (const Harm& harm : harms()) {
    const auto has = [&](std::string_view number) {
      return std::ranges::count(harm.numbers, number) != 0;
    };
    if (has("accounting.*")) {
      EXPECT_TRUE(has("diagnosis.account_ns")) << harm.check;
      EXPECT_TRUE(has("timeline.account_ns")) << harm.check;
    }
    if (has("diagnosis.step_mean_ns")) {
      EXPECT_TRUE(has("diagnosis.step_median_ns")) << harm.check;
      EXPECT_TRUE(has("compare.change_ns")) << harm.check;
    }
    EXPECT_EQ(has("*.min_ns"), has("*.max_ns")) << harm.check;
    for (const std::string_view number : {"step_median_ns", "step_stddev_ns", "step_min_ns"})
      EXPECT_EQ(has("diagnosis.step_mean_ns"), has("diagnosis." + std::string(number)))
          << harm.check << ' ' << number;
    for (const std::string_view number : harm.numbers)
      EXPECT_EQ(std::ranges::count(harm.numbers, number), 1) << harm.check << ' ' << number;
  }
}

TEST(Harm, OnlyOfAFailedCheckAndOfALoss) {
  HealthCheck check;
  check.id = "activities_before_launch";
  const auto harmed = [&check](CheckStatus status, bool loss) {
    check.status = status;
    check.loss = loss;
    return !harmed_by(check).empty();
  };
  EXPECT_TRUE(harmed(CheckStatus::bad, false));
  EXPECT_TRUE(harmed(CheckStatus::warning, true));
  EXPECT_FALSE(harmed(CheckStatus::warning, false));
  EXPECT_FALSE(harmed(CheckStatus::note, true));
  check.id = "shapes_recorded";
  EXPECT_FALSE(harmed(CheckStatus::bad, false));
}

}  // namespace
}  // namespace fathom
