// A wanted saving: reached and missed only where the whole interval shows it.
#include "measure/target.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

MeasuredMetric metric(double ratio, double low, double high, bool more_is_better = false) {
  MeasuredMetric metric;
  metric.more_is_better = more_is_better;
  metric.claim.ratio = PairedRatio{.ratio = ratio, .interval = {low, high}};
  return metric;
}

TEST(Target, IsReachedWhereAllOfTheIntervalSavesAsMuch) {
  EXPECT_EQ(target_progress(metric(0.75, 0.7, 0.79), 0.2).state, TargetState::reached);
  EXPECT_EQ(target_progress(metric(0.75, 0.7, 0.81), 0.2).state, TargetState::cannot_tell);
  EXPECT_EQ(target_progress(metric(0.9, 0.81, 0.95), 0.2).state, TargetState::missed);
  EXPECT_EQ(target_progress(metric(0.82, 0.79, 0.9), 0.2).state, TargetState::cannot_tell);
  EXPECT_NEAR(*target_progress(metric(0.9, 0.85, 0.95), 0.2).saved, 0.1, 1e-12);
}

TEST(Target, OfARateIsTheTimeThatItSaves) {
  const TargetProgress progress = target_progress(metric(1.25, 1.2, 1.3, true), 0.2);
  EXPECT_NEAR(*progress.saved, 0.2, 1e-12);
  EXPECT_NEAR(progress.bounds->low, 1 - 1 / 1.2, 1e-12);
  EXPECT_EQ(progress.state, TargetState::cannot_tell);
  EXPECT_EQ(target_progress(metric(1.4, 1.3, 1.5, true), 0.2).state, TargetState::reached);
}

TEST(Target, CannotBeToldWithoutAnIntervalOrWithOtherClocks) {
  EXPECT_EQ(target_progress(MeasuredMetric{}, 0.2).state, TargetState::cannot_tell);
  MeasuredMetric other = metric(0.7, 0.69, 0.71);
  other.clocks_differ = true;
  EXPECT_EQ(target_progress(other, 0.2).state, TargetState::cannot_tell);
}

}  // namespace
}  // namespace fathom::measure
