// The digest changes with every attribute and with nothing else.
#include "store/digest.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

std::uint64_t sum_of(const Trace& trace, std::string_view table) {
  for (const TableDigest& entry : digest(trace).tables) {
    if (entry.table == table) return entry.sum;
  }
  return 0;
}

Trace one_op(std::int64_t sequence, std::string_view shapes, std::int64_t start = 100) {
  TraceBuilder builder;
  builder.op("aten::mm", start, 50).shapes(shapes).sequence(sequence);
  return builder.build();
}

TEST(Digest, EqualTracesHaveEqualDigests) {
  EXPECT_EQ(digest(one_op(1, "[[2]]")), digest(one_op(1, "[[2]]")));
}

TEST(Digest, OrderOfRowsDoesNotMatter) {
  TraceBuilder forwards;
  forwards.op("a", 0, 1);
  forwards.op("b", 5, 1);
  TraceBuilder backwards;
  backwards.op("b", 5, 1);
  backwards.op("a", 0, 1);
  EXPECT_EQ(digest(forwards.build()), digest(backwards.build()));
}

TEST(Digest, EachAttributeCounts) {
  const std::uint64_t base = sum_of(one_op(1, "[[2]]"), "slices");
  EXPECT_NE(base, sum_of(one_op(2, "[[2]]"), "slices"));
  EXPECT_NE(base, sum_of(one_op(1, "[[3]]"), "slices"));
  EXPECT_NE(base, sum_of(one_op(1, "[[2]]", 101), "slices"));
}

TEST(Digest, TimesAreAbsolute) {
  TraceBuilder builder;
  builder.op("a", 100, 50);
  Trace shifted = builder.build();
  shifted.origin_ns = 1000;
  TraceBuilder other;
  other.op("a", 1100, 50);
  EXPECT_EQ(sum_of(shifted, "slices"), sum_of(other.build(), "slices"));
}

TEST(Digest, LinesSayWhatWasRecorded) {
  TraceBuilder builder;
  builder.on_thread(7, 3);
  builder.op("aten::mm", 100, 50).shapes("[[2,3]]").external_id(9).sequence(5);
  builder.on_stream(20, 1);
  builder.kernel("gemm", 200, 30, 4).grid(8, 1, 1).block(128, 1, 1);
  std::vector<std::string> lines;
  for_each_digest_line(builder.build(), [&lines](std::string_view table, std::string_view line) {
    if (table == "slices") lines.emplace_back(line);
  });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "slice|host|3|7|aten::mm|100|50|cpu_op|cpu_op|-|9|[[2,3]]|-|-|-|5|-|-|-|-");
  EXPECT_NE(lines[1].find("|gemm|200|30|kernel|kernel|4|-|8,1,1|128,1,1|-|-|-|-|-|-"),
            std::string::npos);
}

TEST(Digest, TextHasOneLineForEachTable) {
  const std::string text = to_string(digest(one_op(1, "[[2]]")));
  EXPECT_EQ(text.substr(0, 9), "slices 1 ");
  EXPECT_NE(text.find("\nflows 0 0000000000000000\n"), std::string::npos);
}

}  // namespace
}  // namespace fathom
