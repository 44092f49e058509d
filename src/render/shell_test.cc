#include "render/shell.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(CommandOn, NamesTheInputWhereverTheCommandDoes) {
  EXPECT_EQ(command_on("fathom gaps TRACE --sort -duration_ns", "my trace.json"),
            "fathom gaps 'my trace.json' --sort -duration_ns");
  EXPECT_EQ(command_on("fathom ops TRACE\nfathom kernels TRACE", "a"),
            "fathom ops a\nfathom kernels a");
  EXPECT_EQ(command_on("fathom ops TRACE", "TRACE.json"), "fathom ops TRACE.json");
}

TEST(CommandOn, LeavesThePlaceOpenForStandardInput) {
  EXPECT_EQ(command_on("fathom ops TRACE", "-"), "fathom ops TRACE");
}

TEST(CommandOn, MakesNoOptionOfAName) {
  EXPECT_EQ(command_on("fathom ops TRACE", "-x.json"), "fathom ops ./-x.json");
  EXPECT_EQ(command_on("fathom ops TRACE", "-x\ny"), "fathom ops ./$'-x\\ny'");
}

}  // namespace
}  // namespace fathom
