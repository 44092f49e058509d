// functions: the deterministic profile, over processes and per process.
#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

class FunctionsReport : public ::testing::Test {
 protected:
  FunctionsReport() {
    add(7, "train.py", "step", 12, 10, 900, 300);
    add(7, "", "<built-in sum>", 0, 4, 600, 600);
    add(8, "train.py", "step", 12, 1, 100, 100);
  }

  void add(std::int64_t pid, std::string_view file, std::string_view name, std::uint32_t line,
           std::uint64_t calls, std::int64_t total, std::int64_t self) {
    trace_.functions.push_back({.pid = pid,
                                .file = trace_.strings.intern(file),
                                .name = trace_.strings.intern(name),
                                .line = line,
                                .calls = calls,
                                .total = duration_ns(total),
                                .self = duration_ns(self)});
  }

  /// The cells of that function (and process), or nothing.
  std::vector<Cell> row(std::string_view function, const std::string& group_by = "function",
                        std::int64_t pid = 0) {
    const Answer table("functions", trace_, group_by);
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (table.text(row, "function") != function) continue;
      if (pid == 0 || table.at(row, "process") == Value(pid)) return table.row(row);
    }
    return {};
  }

  Trace trace_ = TraceBuilder().build();
};

Cell whole(std::int64_t value) { return value; }

TEST_F(FunctionsReport, SumsTheCallsOfAllProcesses) {
  const std::vector<Cell> step = row("step");
  ASSERT_EQ(step.size(), find_report("functions")->columns.size());
  EXPECT_EQ(step[1], Cell(std::string("train.py:12")));
  EXPECT_EQ(step[2], Cell());
  EXPECT_EQ(step[3], whole(11));
  EXPECT_EQ(step[4], whole(400));
  EXPECT_EQ(step[5], Cell(40.0));
  EXPECT_EQ(step[6], whole(36));
  EXPECT_EQ(step[7], whole(1000));
}

TEST_F(FunctionsReport, ProcessesAreApartWhereThatIsAskedFor) {
  EXPECT_EQ(row("step", "process", 7)[3], whole(10));
  EXPECT_EQ(row("step", "process", 8)[3], whole(1));
}

TEST_F(FunctionsReport, WhatTheInterpreterHasLiesInNoFile) {
  EXPECT_EQ(row("<built-in sum>")[1], Cell());
}

TEST_F(FunctionsReport, WithoutAProfileTheOptionIsNamed) {
  trace_.functions.clear();
  const Answer table("functions", trace_);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("--with functions"), std::string::npos);
}

}  // namespace
}  // namespace fathom
