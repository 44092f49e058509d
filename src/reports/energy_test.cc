#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two steps of a second each on a GPU that takes 100 W in the first and 300 W in the second.
TraceBuilder steps() {
  TraceBuilder trace;
  for (int i = 0; i < 2; ++i) {
    trace.step(i, i * kSecond, kSecond);
    trace.op("aten::mm", i * kSecond + 10, 100);
    trace.runtime("cudaLaunchKernel", i * kSecond + 20, 5, i + 1);
    trace.kernel("gemm", i * kSecond + 200, kSecond - 300, i + 1);
  }
  trace.on_thread(0, 0);
  trace.sample("gpu.energy device 0", 0, 1000);
  trace.sample("gpu.energy device 0", kSecond, 1100);
  trace.sample("gpu.energy device 0", 2 * kSecond, 1400);
  return trace;
}

Answer table_of(TraceBuilder builder, TableOptions options, const OptionValues& own = {}) {
  return {"energy", builder.build(), std::move(options), Selection(), own};
}

/// -1 where there is none.
double real(const Answer& table, std::size_t row, std::string_view column) {
  return table.null(row, column) ? -1 : table.real(row, column);
}

TEST(EnergyReport, HasJoulesPowerAndTheMeanStep) {
  OptionValues own;
  own.set("price", 0.36);
  own.set("carbon", 360.0);
  const Answer table = table_of(steps(), {}, own);
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_NEAR(real(table, 0, "joules"), 400, 1e-6);
  EXPECT_NEAR(real(table, 0, "mean_watts"), 200, 1e-6);
  EXPECT_NEAR(real(table, 0, "joules_per_step"), 200, 1);
  EXPECT_NEAR(real(table, 0, "price"), 400 * 1e-7, 1e-12);
  EXPECT_NEAR(real(table, 0, "co2_g"), 0.04, 1e-9);
}

TEST(EnergyReport, HasARowPerStep) {
  const Answer table = table_of(steps(), {.group_by = "step"});
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_NEAR(real(table, 0, "joules"), 100, 1);
  EXPECT_NEAR(real(table, 1, "joules"), 300, 1);
  EXPECT_EQ(real(table, 1, "price"), -1);
}

TraceBuilder whole_run() {
  TraceBuilder trace = steps();
  trace.fact("run.steps", "[[7,0,500000000],[8,500000000,1000000000],[9,9000000000,9500000000]]");
  return trace;
}

TEST(EnergyReport, CountsTheStepsOfTheWholeRunWhereTheyAreKnown) {
  EXPECT_NEAR(real(table_of(whole_run(), {}), 0, "joules_per_step"), 50, 1e-6);
  EXPECT_EQ(table_of(whole_run(), {.group_by = "step"}).rows(), 2U);
}

TEST(EnergyReport, TakesThePriceThatTheRunWasGiven) {
  TraceBuilder trace = steps();
  trace.fact("options.price_per_kwh", "0.36");
  EXPECT_NEAR(real(table_of(std::move(trace), {}), 0, "price"), 400 * 1e-7, 1e-12);
}

TEST(EnergyReport, SaysHowToRecordWhatItLacks) {
  TraceBuilder trace;
  trace.step(0, 0, 1000);
  const Answer table = table_of(std::move(trace), {});
  EXPECT_EQ(table.rows(), 0U);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("fathom run"), std::string::npos);
}

}  // namespace
}  // namespace fathom
