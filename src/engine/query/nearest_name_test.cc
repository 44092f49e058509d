#include "engine/query/nearest_name.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

TEST(NearestName, IsANameOfASlice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10).shapes("[aten::mn]");
  EXPECT_EQ(nearest_slice_name(builder.build(), "aten::mn"), "aten::mm");
}

TEST(NearestName, OfEquallyNearNamesIsTheFirstByTheAlphabet) {
  TraceBuilder builder;
  builder.op("load_c", 0, 10);
  builder.op("load_a", 20, 10);
  builder.op("load_b", 40, 10);
  EXPECT_EQ(nearest_slice_name(builder.build(), "load_x"), "load_a");
}

TEST(NearestName, IsNeverTheWordItself) {
  TraceBuilder builder;
  builder.op("forward", 0, 10);
  EXPECT_EQ(nearest_slice_name(builder.build(), "forward"), "");
}

}  // namespace
}  // namespace fathom
