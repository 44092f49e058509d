// Entries of call stacks as torch shows them.
#include "analysis/operators/op_stacks.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(OpStacks, TheInnermostEntriesComeFirst) {
  EXPECT_EQ(top_of_stack("a(1): f;b(2): g;c(3): h", 2), "a(1): f;b(2): g");
  EXPECT_EQ(top_of_stack("a(1): f", 5), "a(1): f");
  EXPECT_EQ(top_of_stack("", 5), "");
}

TEST(OpStacks, EntriesOfTheProfilerAndAutogradAreHidden) {
  EXPECT_EQ(top_of_stack("torch/autograd/__init__.py(173): backward;torch/tensor.py(5): backward;"
                         "train.py(3): step",
                         2),
            "train.py(3): step");
}

TEST(OpStacks, EmptyEntriesDoNotCount) { EXPECT_EQ(top_of_stack(";a;;b;", 2), "a;b"); }

}  // namespace
}  // namespace fathom
