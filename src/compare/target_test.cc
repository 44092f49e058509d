#include "compare/target.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Target, IsSoMuchLessTimeOrAStepTime) {
  EXPECT_NEAR(*parse_target("20%")->ratio, 0.8, 1e-12);
  EXPECT_EQ(parse_target("30ms")->ns, 30e6);
}

TEST(Target, RefusesWhatIsNone) {
  for (const std::string_view text : {"", "20", "0%", "100%", "-3%", "0ms", "fast"})
    EXPECT_FALSE(parse_target(text).ok()) << text;
}

TEST(Target, IsReachedWhereAllOfTheIntervalIs) {
  const Target target = *parse_target("20%");
  EXPECT_EQ(progress_to(target, 100, 75, Bounds{0.7, 0.79}).reached, Reached::yes);
  EXPECT_EQ(progress_to(target, 100, 90, Bounds{0.85, 0.95}).reached, Reached::no);
  EXPECT_EQ(progress_to(target, 100, 80, Bounds{0.75, 0.85}).reached, Reached::cannot_tell);
  EXPECT_EQ(progress_to(target, 100, 10, std::nullopt).reached, Reached::cannot_tell);
}

TEST(Target, ProgressIsThePartOfTheWay) {
  EXPECT_NEAR(*progress_to(*parse_target("20%"), 100, 90, std::nullopt).way, 0.5, 1e-12);
  EXPECT_NEAR(*progress_to(*parse_target("60ns"), 100, 120, std::nullopt).way, -0.5, 1e-12);
  // The first is there already.
  EXPECT_FALSE(progress_to(*parse_target("200ns"), 100, 90, std::nullopt).way);
}

}  // namespace
}  // namespace fathom
