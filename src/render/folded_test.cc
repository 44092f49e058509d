#include "render/folded.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"stack", ColumnKind::name, "", "Where."},
    {"total_ns", ColumnKind::duration_ns, "ns", "How long."},
};

View view(std::string stack) {
  View result;
  result.input = "a;b.json";
  result.table = Table({std::begin(kColumns), std::end(kColumns)});
  result.table.append_row(std::vector<Cell>{std::move(stack), std::int64_t{1200}});
  return result;
}

TEST(Folded, IsAStackAndItsTimePerLine) {
  EXPECT_EQ(render_folded(view("main.py(3): f;aten::mm"), false), "main.py(3): f;aten::mm 1200\n");
}

TEST(Folded, HasTheInputAsOutermostFrameWhenThereAreSeveral) {
  EXPECT_EQ(render_folded(view("f"), true), "a,b.json;f 1200\n");
}

TEST(Folded, KeepsAStackOnOneLine) {
  EXPECT_EQ(render_folded(view("f\r\n\x1b[1m;g"), false), "f   [1m;g 1200\n");
}

}  // namespace
}  // namespace fathom
