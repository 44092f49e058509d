// The glossary has every word from a fixed list that compare, check and verify print.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compare/align.h"
#include "compare/cause.h"
#include "compare/check.h"
#include "compare/comparison.h"
#include "compare/target.h"
#include "compare/verification.h"
#include "engine/unexplained.h"

namespace fathom {
namespace {

using Words = std::vector<std::string>;

TEST(GlossaryOfComparisons, HasEveryWordOfAComparison) {
  EXPECT_EQ(unexplained<Cause>("cause"), Words());
  EXPECT_EQ(unexplained<Alignment>("alignment"), Words());
  EXPECT_EQ(unexplained<Comparability>("comparability"), Words());
  EXPECT_EQ(unexplained<Reached>("target"), Words());
}

TEST(GlossaryOfComparisons, HasEveryJudgementAndOutcome) {
  EXPECT_EQ(unexplained<Judgement>("judgement"), Words());
  EXPECT_EQ(unexplained<VerifyOutcome>("verified"), Words());
}

}  // namespace
}  // namespace fathom
