#include "engine/diagnosis/batch_point.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

BatchSize size(double samples, double step_ms, double device_ms) {
  return {.samples = samples,
          .step_ns = 1e6 * step_ms,
          .device_ns = 1e6 * device_ms,
          .device = "A100",
          .operators = {"aten::mm", "aten::add", "aten::cat", "aten::mul", "aten::sum"}};
}

double predicted_ms(const BatchSize& one, const BatchSize& other) {
  const std::optional<BatchPoint> point = with_twice_the_batch(one, other);
  return point ? point->step_ns / 1e6 : 0;
}

TEST(BatchPoint, FollowsTheDeviceNotTheSteps) {
  // Recorded on an A100: a line through the steps says 71.5 ms, measured are 97.5.
  const double predicted = predicted_ms(size(64, 36.3, 8.34), size(256, 51.4, 47.6));
  EXPECT_NEAR(predicted, 97.5, 0.1 * 97.5);
}

TEST(BatchPoint, IsTheHostsTimeWhileTheDeviceWaits) {
  EXPECT_NEAR(predicted_ms(size(8, 30, 2), size(16, 30.5, 4)), 30.5, 0.01);
  EXPECT_NEAR(predicted_ms(size(8, 30, 10), size(16, 30.5, 20)), 40, 0.01)
      << "from there on the device's";
}

TEST(BatchPoint, IsSilentWhereItWouldBeAGuess) {
  const BatchSize small = size(8, 30, 10);
  BatchSize large = size(16, 31, 20);
  EXPECT_NE(predicted_ms(small, large), 0);
  EXPECT_EQ(predicted_ms(small, size(9, 31, 11)), 0) << "nearly the same batch";
  EXPECT_EQ(predicted_ms(small, size(16, 31, 9)), 0) << "time does not grow";
  EXPECT_EQ(predicted_ms(small, size(16, 61, 55)), 0) << "faster than the batch";
  EXPECT_EQ(predicted_ms(small, size(16, 90, 20)), 0) << "waits for more than the host";
  large.input_ns = 10e6;
  EXPECT_EQ(predicted_ms(small, large), 0) << "waits for input";
  large = size(16, 31, 20);
  large.device = "H100";
  EXPECT_EQ(predicted_ms(small, large), 0) << "another device";
  large = size(16, 31, 20);
  large.operators = {"aten::conv2d", "aten::relu", "aten::mm"};
  EXPECT_EQ(predicted_ms(small, large), 0) << "another program";
}

TEST(BatchPoint, DoesNotDependOnTheOrderAndSaysWhatItRestsOn) {
  const BatchSize small = size(64, 36.3, 8.34);
  const BatchSize large = size(256, 51.4, 47.6);
  EXPECT_EQ(predicted_ms(small, large), predicted_ms(large, small));
  const std::string note = batch_note(large, small, *with_twice_the_batch(large, small));
  EXPECT_NE(note.find("64 samples a step take 36.30 ms, 256 take 51.40 ms"), std::string::npos)
      << note;
  EXPECT_NE(note.find("512 would take about 103.7 ms"), std::string::npos) << note;
}

}  // namespace
}  // namespace fathom
