// functions: the deterministic profile, over processes and per process.
#include <gtest/gtest.h>

#include "reports/report.h"
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

  /// The row of that function (and process), or nothing.
  std::vector<Value> row(std::string_view function, const std::string& group_by = "function",
                         std::int64_t pid = 0) {
    const Analyses analyses(trace_);
    const TableOptions options{.group_by = group_by};
    const Result<Table> table =
        find_report("functions")->compute(Context{trace_, analyses, {}, options});
    EXPECT_TRUE(table.ok());
    for (const std::vector<Value>& row : table->rows) {
      if (row[0] == Value(std::string(function)) && (pid == 0 || row[2] == Value(pid))) return row;
    }
    return {};
  }

  Trace trace_ = TraceBuilder().build();
};

Value whole(std::int64_t value) { return Value(value); }

TEST_F(FunctionsReport, SumsTheCallsOfAllProcesses) {
  const std::vector<Value> step = row("step");
  ASSERT_EQ(step.size(), find_report("functions")->columns.size());
  EXPECT_EQ(step[1], Value(std::string("train.py:12")));
  EXPECT_EQ(step[2], Value());
  EXPECT_EQ(step[3], whole(11));
  EXPECT_EQ(step[4], whole(400));
  EXPECT_EQ(step[5], Value(40.0));
  EXPECT_EQ(step[6], whole(36));
  EXPECT_EQ(step[7], whole(1000));
}

TEST_F(FunctionsReport, ProcessesAreApartWhereThatIsAskedFor) {
  EXPECT_EQ(row("step", "process", 7)[3], whole(10));
  EXPECT_EQ(row("step", "process", 8)[3], whole(1));
}

TEST_F(FunctionsReport, WhatTheInterpreterHasLiesInNoFile) {
  EXPECT_EQ(row("<built-in sum>")[1], Value());
}

TEST_F(FunctionsReport, WithoutAProfileTheOptionIsNamed) {
  trace_.functions.clear();
  const Analyses analyses(trace_);
  const Result<Table> table = find_report("functions")->compute(Context{trace_, analyses, {}, {}});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->notes.size(), 1U);
  EXPECT_NE(table->notes[0].find("--with functions"), std::string::npos);
}

}  // namespace
}  // namespace fathom
