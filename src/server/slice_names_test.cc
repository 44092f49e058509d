// Names have numbers by where their slices are, not by when their texts were first read.
#include "server/slice_names.h"

#include <utility>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom::server {
namespace {

Trace three_calls() {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 90);
  builder.op("aten::add", 100, 90);
  builder.op("aten::mm", 200, 90);
  return builder.build();
}

TEST(SliceNames, AreNumberedBySlicesWhateverTheOrderOfTheStrings) {
  const Trace trace = three_calls();
  // The same slices with a pool that was filled in another order, as by several threads.
  Trace other = three_calls();
  StringPool turned;
  const StringId no_name_of_a_slice = turned.intern("an argument");
  const StringId add = turned.intern("aten::add");
  const StringId mm = turned.intern("aten::mm");
  other.slices.name[0] = mm;
  other.slices.name[1] = add;
  other.slices.name[2] = mm;
  other.strings = std::move(turned);
  for (const Trace* const each : {&trace, &std::as_const(other)}) {
    const SliceNames names(*each);
    ASSERT_EQ(names.size(), 3U);
    EXPECT_EQ(names.text(0), "");
    EXPECT_EQ(names.text(1), "aten::mm");
    EXPECT_EQ(names.text(2), "aten::add");
    EXPECT_EQ(names.text(3), "");
    EXPECT_EQ(names.number(each->slices.name[2]), 1U);
    EXPECT_EQ(names.number(each->strings.find("aten::add")), 2U);
    EXPECT_EQ(names.number(StringId()), 0U);
  }
  EXPECT_EQ(SliceNames(other).number(no_name_of_a_slice), 0U);
}

}  // namespace
}  // namespace fathom::server
