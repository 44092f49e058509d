// The glossary has every word for what a thread waits for that looking from outside finds.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/unexplained.h"
#include "sample/task.h"

namespace fathom::sample {
namespace {

TEST(GlossaryOfWaits, HasEveryWordButThatOfAThreadThatRuns) {
  EXPECT_EQ(unexplained<WaitKind>("wait"), std::vector<std::string>{"none"});
}

}  // namespace
}  // namespace fathom::sample
