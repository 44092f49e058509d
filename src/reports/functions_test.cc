// functions: the deterministic profile, over processes and per process.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

class FunctionCallers : public FunctionsReport {
 protected:
  void called(std::int64_t pid, std::string_view file, std::string_view name, std::uint32_t line,
              std::string_view caller, std::uint64_t calls, std::uint64_t primitive,
              std::int64_t total, std::int64_t self, bool timed = true) {
    trace_.function_calls.push_back({.pid = pid,
                                     .file = trace_.strings.intern(file),
                                     .name = trace_.strings.intern(name),
                                     .line = line,
                                     .caller_file = trace_.strings.intern("main.py"),
                                     .caller_name = trace_.strings.intern(caller),
                                     .caller_line = 1,
                                     .timed = timed,
                                     .calls = calls,
                                     .primitive = primitive,
                                     .total = duration_ns(total),
                                     .self = duration_ns(self)});
  }
  using Row = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  /// Function, caller, calls and own time.
  [[nodiscard]] std::vector<Row> callers() const {
    const Answer table("functions", trace_, "caller");
    std::vector<Row> rows;
    for (std::size_t row = 0; row < table.rows(); ++row)
      rows.emplace_back(table.text(row, "function"), table.text(row, "caller"),
                        table.number(row, "calls"), table.number(row, "self_ns"));
    std::ranges::sort(rows);
    return rows;
  }
};

TEST_F(FunctionCallers, SumToTheFunction) {
  called(7, "train.py", "step", 12, "main", 6, 6, 500, 100);
  called(8, "train.py", "step", 12, "main", 1, 1, 100, 100);
  called(7, "train.py", "step", 12, "other", 2, 2, 300, 150);
  EXPECT_EQ(callers(), (std::vector<Row>{{"<built-in sum>", "(null)", 4, 600},
                                         {"step", "(null)", 2, 50},
                                         {"step", "main", 7, 200},
                                         {"step", "other", 2, 150}}));
  const Answer table("functions", trace_, "caller");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool rest = table.text(row, "function") == "step" && table.null(row, "caller");
    EXPECT_EQ(table.null(row, "total_ns"), rest);
    EXPECT_EQ(table.null(row, "caller_location"), table.null(row, "caller"));
  }
  EXPECT_EQ(table.sum("calls"), 15);
  EXPECT_EQ(table.sum("self_ns"), 1000);
}

TEST_F(FunctionCallers, MayHaveNoTimes) {
  called(7, "train.py", "step", 12, "main", 11, 0, 0, 0, false);
  const Answer table("functions", trace_, "caller");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "caller") != "main") continue;
    EXPECT_TRUE(table.null(row, "self_ns"));
    EXPECT_TRUE(table.null(row, "self_percent"));
    EXPECT_TRUE(table.null(row, "total_per_call_ns"));
    EXPECT_TRUE(table.null(row, "primitive_calls"));
  }
  EXPECT_EQ(table.rows(), 2U);
}

TEST_F(FunctionCallers, AreOfTheWholeRun) {
  const Answer none("functions", trace_, "caller");
  EXPECT_NE(none.notes().at(0).find("no callers"), std::string::npos);
  EXPECT_THROW(Answer("functions", trace_, "caller", {.window = Interval{time_ns(0), time_ns(1)}}),
               std::runtime_error);
}

TEST_F(FunctionCallers, PrimitiveCallsAreKnownOfAllOrOfNone) {
  trace_.functions[0].primitive = 4;
  trace_.functions[1].primitive = 4;
  const Answer table("functions", trace_, "process");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool lacks = table.at(row, "process") == Value(8);
    EXPECT_EQ(table.null(row, "primitive_calls"), lacks);
    if (!lacks) {
      EXPECT_EQ(table.number(row, "primitive_calls"), 4);
    }
  }
  EXPECT_TRUE(Answer("functions", trace_).null(1, "primitive_calls"));
}

/// Two steps of process 7, with what lies around them: the sums above, divided.
class DividedFunctions : public FunctionsReport {
 protected:
  DividedFunctions() {
    TraceBuilder builder;
    builder.step(4, 1000, 1000);
    builder.step(5, 2000, 1000);
    Trace trace = builder.build();
    std::swap(trace, trace_);
    for (const auto& [pid, file, name, line, calls, total, self] : {
             std::tuple(7, "train.py", "step", 12U, 10U, 900, 300),
             std::tuple(7, "", "<built-in sum>", 0U, 4U, 600, 600),
         })
      add(pid, file, name, line, calls, total, self);
    part(kAbsent, 0, 1000, "step", 1, 100, 50);
    part(4, 1000, 2000, "step", 2, 300, 50);
    part(4, 1000, 2000, "<built-in sum>", 4, 600, 600);
    part(5, 2000, 3000, "step", 7, 500, 200);
  }
  void part(std::int64_t step, std::int64_t begin, std::int64_t end, std::string_view name,
            std::uint64_t calls, std::int64_t total, std::int64_t self) {
    const bool built_in = name.starts_with("<");
    trace_.function_parts.push_back(
        {.time = {.pid = 7,
                  .file = trace_.strings.intern(built_in ? "" : "train.py"),
                  .name = trace_.strings.intern(name),
                  .line = built_in ? 0U : 12U,
                  .calls = calls,
                  .total = duration_ns(total),
                  .self = duration_ns(self)},
         .when = {time_ns(begin), time_ns(end)},
         .step = step});
  }
  using Numbers = std::vector<std::tuple<std::string, std::int64_t, std::int64_t>>;
  [[nodiscard]] Numbers calls_and_own(const Selection& selection) const {
    const Answer table("functions", trace_, "", selection);
    Numbers found;
    for (std::size_t row = 0; row < table.rows(); ++row)
      found.emplace_back(table.text(row, "function"), table.number(row, "calls"),
                         table.number(row, "self_ns"));
    std::ranges::sort(found);
    return found;
  }
};

TEST_F(DividedFunctions, AStepHasItsOwnCallsAndTimes) {
  EXPECT_EQ(calls_and_own({.steps = Selection::StepRange{4, 4}}),
            (Numbers{{"<built-in sum>", 4, 600}, {"step", 2, 50}}));
  EXPECT_EQ(calls_and_own({.steps = Selection::StepRange{5, 9}}), (Numbers{{"step", 7, 200}}));
}

TEST_F(DividedFunctions, AWindowHasWhatBeginsInIt) {
  // Windows count from the first step.
  EXPECT_EQ(calls_and_own({.window = Interval{time_ns(500), time_ns(1500)}}),
            (Numbers{{"step", 7, 200}}));
  EXPECT_EQ(calls_and_own({.window = Interval{time_ns(0), time_ns(2000)}}),
            (Numbers{{"<built-in sum>", 4, 600}, {"step", 9, 250}}));
}

TEST_F(DividedFunctions, PartsSumToTheWholeRun) {
  std::map<std::string, std::tuple<std::int64_t, std::int64_t>> sums;
  for (const FunctionPart& part : trace_.function_parts) {
    auto& [calls, self] = sums[std::string(trace_.text(part.time.name))];
    calls += static_cast<std::int64_t>(part.time.calls);
    self += to_ns(part.time.self);
  }
  const Numbers whole = calls_and_own({});
  ASSERT_EQ(whole.size(), sums.size());
  for (const auto& [name, calls, self] : whole)
    EXPECT_EQ(std::tuple(calls, self), sums[name]) << name;
}

TEST_F(DividedFunctions, OfAKilledProcessThereAreItsSteps) {
  trace_.functions.clear();
  EXPECT_EQ(calls_and_own({}), (Numbers{{"<built-in sum>", 4, 600}, {"step", 10, 300}}));
  EXPECT_NE(Answer("functions", trace_).notes().at(0).find("kill"), std::string::npos);
}

TEST_F(DividedFunctions, AStepWithoutSumsIsNamed) {
  std::erase_if(trace_.function_parts, [](const FunctionPart& part) { return part.step == 4; });
  const Answer table("functions", trace_, "", {.steps = Selection::StepRange{4, 5}});
  ASSERT_EQ(table.notes().size(), 2U);
  EXPECT_NE(table.notes()[1].find("Step 4 has no sums"), std::string::npos) << table.notes()[1];
}

TEST_F(FunctionsReport, WithoutAProfileTheOptionIsNamed) {
  trace_.functions.clear();
  const Answer table("functions", trace_);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("--with functions"), std::string::npos);
}

TEST_F(FunctionsReport, AreStacksByTheirOwnTimeWhereNothingElseIs) {
  const Answer table("stacks", trace_);
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "stack"), "<built-in sum>");
  EXPECT_EQ(table.at(0, "total_ns"), Value(600));
  EXPECT_EQ(table.text(1, "stack"), "step (train.py:12)");
  EXPECT_EQ(table.at(1, "total_ns"), Value(400));
  EXPECT_EQ(table.at(1, "calls"), Value(11));
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("each by its own time"), std::string::npos);
}

}  // namespace
}  // namespace fathom
