// The glossary has every word from a fixed list that bench prints.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/unexplained.h"
#include "measure/claim.h"
#include "measure/crossover.h"
#include "measure/knee.h"
#include "measure/sampling.h"
#include "measure/target.h"
#include "measure/varied_bench.h"

namespace fathom::measure {
namespace {

using Words = std::vector<std::string>;

TEST(GlossaryOfMeasurements, HasEveryVerdictAndWhyItEnded) {
  EXPECT_EQ(unexplained<Verdict>("claim"), Words());
  EXPECT_EQ(unexplained<TargetState>("target"), Words());
  // JSON has "interrupted" for it.
  EXPECT_EQ(unexplained<Stopped>("stopped"), Words({"asked"}));
  EXPECT_TRUE(is_explained("stopped", "interrupted"));
}

TEST(GlossaryOfMeasurements, HasEveryWordOfSeveralValues) {
  EXPECT_EQ(unexplained<Standing>("standing"), Words());
  EXPECT_EQ(unexplained<Crossing>("crossing"), Words());
  EXPECT_EQ(unexplained<PointState>("point"), Words());
}

}  // namespace
}  // namespace fathom::measure
