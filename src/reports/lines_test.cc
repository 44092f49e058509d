// lines: statements by their time, and the listing of a source file.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "reports/answer.h"
#include "store/slice_appender.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::string_view kSource =
    "import os\n"        // 1
    "\n"                 // 2
    "def f(x):\n"        // 3
    "    # a comment\n"  // 4
    "    y = g(\n"       // 5
    "        x)\n"       // 6
    "    if y:\n"        // 7
    "        never()\n"  // 8
    "\n"                 // 9
    "f(1)\n";            // 10

class LinesReport : public ::testing::Test {
 protected:
  LinesReport() {
    add("<module>", 0, 1, 1, 1, 50, 50);
    add("<module>", 0, 3, 3, 1, 10, 10);
    add("<module>", 0, 10, 10, 1, 1000, 40);
    add("f", 3, 5, 6, 10, 600, 500);
    add("f", 3, 7, 7, 10, 400, 400);
    add("f", 3, 8, 8, 0, 0, 0);
    trace_.sources.push_back({trace_.strings.intern("/a.py"), trace_.strings.intern(kSource)});
  }

  void add(std::string_view function, std::uint32_t function_line, std::uint32_t first,
           std::uint32_t last, std::uint64_t hits, std::int64_t total, std::int64_t self,
           std::int64_t pid = 7) {
    trace_.lines.push_back({.pid = pid,
                            .file = trace_.strings.intern("/a.py"),
                            .function = trace_.strings.intern(function),
                            .first = first,
                            .last = last,
                            .function_line = function_line,
                            .hits = hits,
                            .total = duration_ns(total),
                            .self = duration_ns(self)});
  }

  [[nodiscard]] static std::vector<std::string> texts(const Answer& table,
                                                      std::string_view column) {
    std::vector<std::string> found;
    for (std::size_t row = 0; row < table.rows(); ++row)
      found.emplace_back(table.text(row, column));
    return found;
  }

  Trace trace_ = TraceBuilder().build();
};

TEST_F(LinesReport, StatementsThatRanComeByTheirOwnTime) {
  const Answer table("lines", trace_);
  EXPECT_EQ(texts(table, "location"),
            (std::vector<std::string>{"/a.py:5", "/a.py:7", "/a.py:1", "/a.py:10", "/a.py:3"}));
  EXPECT_EQ(table.text(0, "source"), "y = g(");
  EXPECT_EQ(table.number(0, "hits"), 10);
  EXPECT_EQ(table.number(0, "total_per_hit_ns"), 60);
  EXPECT_EQ(table.real(0, "total_percent"), 60.0);
  EXPECT_EQ(table.real(0, "self_percent"), 50.0);
}

TEST_F(LinesReport, ProcessesAreSummedUnlessTheyAreAskedFor) {
  add("f", 3, 7, 7, 5, 100, 100, 8);
  EXPECT_EQ(Answer("lines", trace_).number(1, "hits"), 15);
  EXPECT_EQ(Answer("lines", trace_, "process").rows(), 6U);
}

TEST_F(LinesReport, StepsHaveTheirOwnHitsAndTimes) {
  TraceBuilder builder;
  builder.step(4, 1000, 1000);
  builder.step(5, 2000, 1000);
  Trace trace = builder.build();
  std::swap(trace, trace_);
  add("f", 3, 5, 6, 10, 600, 500);
  add("f", 3, 7, 7, 10, 400, 400);
  const auto part = [this](std::size_t line, std::int64_t step, std::uint64_t hits,
                           std::int64_t self) {
    LinePart made{.time = trace_.lines[line],
                  .when = {time_ns(1000 * (step - 3)), time_ns(1000 * (step - 2))},
                  .step = step};
    made.time.hits = hits;
    made.time.self = made.time.total = duration_ns(self);
    trace_.line_parts.push_back(made);
  };
  part(0, 4, 4, 200);
  part(0, 5, 6, 300);
  part(1, 5, 10, 400);
  const Answer first("lines", trace_, "", {.steps = Selection::StepRange{4, 4}});
  ASSERT_EQ(first.rows(), 1U);
  EXPECT_EQ(first.text(0, "location"), "/a.py:5");
  EXPECT_EQ(first.number(0, "hits"), 4);
  EXPECT_EQ(first.number(0, "self_ns"), 200);
  EXPECT_EQ(first.real(0, "self_percent"), 100.0);
  const Answer second("lines", trace_, "", {.window = Interval{time_ns(1000), time_ns(1500)}});
  ASSERT_EQ(second.rows(), 2U);
  EXPECT_EQ(second.text(0, "location"), "/a.py:7");
  EXPECT_EQ(second.number(1, "hits"), 6);
  // Recordings of before have no parts: times of steps are not known.
  trace_.line_parts.clear();
  const Answer old("lines", trace_, "", {.steps = Selection::StepRange{4, 4}});
  EXPECT_EQ(old.rows(), 0U);
  EXPECT_NE(old.notes().at(1).find("not known"), std::string::npos);
}

TEST_F(LinesReport, WithoutSourcesThereIsANote) {
  trace_.sources.clear();
  const Answer table("lines", trace_);
  EXPECT_EQ(table.rows(), 5U);
  ASSERT_EQ(table.notes().size(), 2U);
  EXPECT_NE(table.notes()[0].find("--sources off"), std::string::npos);
  EXPECT_NE(table.notes()[1].find("neither operators nor a device"), std::string::npos);
}

/// What --source-root finds, where files are asked for by these names.
OptionValues found_sources(std::map<std::string, std::string> files) {
  OptionValues own;
  own.set("source-root",
          std::make_shared<const SourceFinder>([files = std::move(files)](std::string_view file) {
            const auto at = files.find(std::string(file));
            return at == files.end() ? std::optional<std::string>() : at->second;
          }));
  return own;
}

TEST_F(LinesReport, TextsThatWereNotKeptAreTakenFromWhereTheyAre) {
  trace_.sources.clear();
  const OptionValues own = found_sources({{"/a.py", std::string(kSource)}});
  const Answer table("lines", trace_, TableOptions{}, {}, own);
  EXPECT_EQ(table.text(0, "source"), "y = g(");
  EXPECT_EQ(table.notes().size(), 1U) << table.notes()[0];
}

TEST_F(LinesReport, SourcesThatAreNotFoundAreNamed) {
  trace_.sources.clear();
  const Answer none("lines", trace_, TableOptions{}, {}, found_sources({{"/b.py", "x"}}));
  EXPECT_TRUE(none.null(0, "source"));
  EXPECT_EQ(
      none.notes()[0],
      "1 of 1 source file is not below --source-root or too large to show, as /a.py: it takes "
      "a folder that holds what such a path ends with, or OLD=NEW.");
  // The last statement is at line 10.
  const Answer shorter("lines", trace_, TableOptions{}, {}, found_sources({{"/a.py", "x\ny\n"}}));
  EXPECT_TRUE(shorter.null(0, "source"));
  EXPECT_NE(shorter.notes()[0].find("shorter below --source-root than what ran, as /a.py"),
            std::string::npos);
}

TEST_F(LinesReport, KeptSourcesAreWhatRan) {
  const OptionValues own = found_sources({{"/a.py", "other"}});
  const Answer table("lines", trace_, TableOptions{}, {}, own);
  EXPECT_EQ(table.text(0, "source"), "y = g(");
  EXPECT_NE(table.notes()[0].find("had nothing to add"), std::string::npos);
}

TEST_F(LinesReport, WhatLinesWaitedForStandsBesideThem) {
  SampleBuilder(trace_)
      .thread(7, 7)
      .at("<module> /a.py 10;f /a.py 6;acquire threading.py 99")
      .waits("lock", 30)
      .waits("sleep", 10)
      .at("<module> /a.py 10")
      .waits("file", 5)
      .at("wait other.py 3")
      .waits("poll", 2);
  const Answer table("lines", trace_);
  const std::vector<std::string> locations = texts(table, "location");
  std::map<std::string, std::pair<std::int64_t, std::string>> waits;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::int64_t ns = table.number(row, "waiting_ns");
    if (ns > 0)
      waits[locations[row]] = {ns / 1'000'000, std::string(table.text(row, "wait_causes"))};
  }
  EXPECT_EQ(waits, (std::map<std::string, std::pair<std::int64_t, std::string>>{
                       {"/a.py:5", {40, "lock 30.00 ms, sleep 10.00 ms"}},
                       {"/a.py:10", {5, "file 5.000 ms"}},
                       {"(no line)", {2, "poll 2.000 ms"}}}));
  EXPECT_EQ(locations.back(), "(no line)");
  EXPECT_TRUE(Answer("lines", TraceBuilder().build()).rows() == 0);
}

TEST_F(LinesReport, WhatLinesCausedStandsBesideThem) {
  TraceBuilder builder;
  builder.on_thread(7, 7);
  builder.op("aten::mm", 10, 100);
  builder.op("aten::mm", 300, 50);
  builder.memory(20, 640, 0, -1, 0xa, 640);
  Trace made = builder.build();
  std::swap(trace_, made);
  add("f", 3, 5, 6, 10, 600, 500);
  const TrackId track(trace_.tracks.size());
  Track line;
  line.kind = TrackKind::async;
  line.process = line.thread = trace_.strings.intern("line");
  line.pid = line.tid = 7;
  trace_.tracks.push_back(line);
  const auto category = static_cast<std::uint8_t>(trace_.categories.size());
  trace_.categories.push_back({trace_.strings.intern("line"), SliceKind::other, 0});
  SliceAppender(trace_).add({.track = track,
                             .start = time_ns(0),
                             .duration = duration_ns(200),
                             .name = trace_.strings.intern("/a.py:5 f"),
                             .category = category});
  SliceAppender(trace_).add({.track = track,
                             .start = time_ns(200),
                             .duration = duration_ns(20),
                             .name = trace_.strings.intern("/b.py:1 <module>"),
                             .category = category});
  const Answer table("lines", trace_);
  EXPECT_EQ(texts(table, "location"),
            (std::vector<std::string>{"/a.py:5", "/b.py:1", "(no line)"}));
  EXPECT_EQ(table.number(0, "operators_ns"), 100);
  EXPECT_EQ(table.number(2, "operators_ns"), 50);
  EXPECT_EQ(table.number(0, "host_allocated_bytes"), 640);
  EXPECT_EQ(table.number(1, "host_ns"), 20);
  EXPECT_EQ(table.number(1, "hits"), 0);
  EXPECT_TRUE(table.null(2, "hits"));
  EXPECT_TRUE(table.null(0, "device_ns"));
  ASSERT_EQ(table.notes().size(), 2U);
  EXPECT_EQ(table.notes()[1], "Nothing was recorded of a device.");

  // Hits are of the whole run.
  const Answer part("lines", trace_, std::string(),
                    Selection{.window = Interval{time_ns(0), time_ns(100)}});
  EXPECT_EQ(texts(part, "location"), (std::vector<std::string>{"/a.py:5", "(no line)"}));
  EXPECT_TRUE(part.null(0, "hits"));
  EXPECT_EQ(part.number(0, "operators_ns"), 100);
}

TEST_F(LinesReport, WorkWithoutATimelineHasANote) {
  TraceBuilder builder;
  builder.op("aten::mm", 10, 100);
  trace_ = builder.build();
  add("f", 3, 5, 6, 10, 600, 500);
  const Answer table("lines", trace_);
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_TRUE(table.null(0, "operators_ns"));
  EXPECT_NE(table.notes().back().find("no timeline of lines"), std::string::npos);
}

TEST_F(LinesReport, ThatLibrariesWereTracedHasANote) {
  const auto notes = [this] {
    std::string all;
    const Answer answer("lines", trace_);
    for (const std::string& note : answer.notes()) all += note + "\n";
    return all;
  };
  EXPECT_EQ(notes().find("libraries"), std::string::npos);
  trace_.facts.push_back({"lines.all_code_traced", "\"the program loaded greenlet\""});
  EXPECT_NE(notes().find("traced, too, which made it slower: the program loaded greenlet.\n"),
            std::string::npos);
}

TEST_F(LinesReport, WithoutAProfileTheOptionIsNamed) {
  trace_.lines.clear();
  const Answer table("lines", trace_);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("--with lines"), std::string::npos);
}

TEST_F(LinesReport, TheListingHasEachLineOfAFunctionOnce) {
  OptionValues own;
  own.set("listing", true);
  const Answer table("lines", trace_, TableOptions{}, {}, own);
  EXPECT_EQ(
      texts(table, "location"),
      (std::vector<std::string>{"/a.py:1", "/a.py:2", "/a.py:3", "/a.py:9", "/a.py:10", "/a.py:3",
                                "/a.py:4", "/a.py:5", "/a.py:6", "/a.py:7", "/a.py:8"}));
  EXPECT_EQ(table.text(6, "source"), "    # a comment");
  EXPECT_TRUE(table.null(6, "hits"));
  EXPECT_TRUE(table.null(8, "hits"));      // the second line of a statement
  EXPECT_EQ(table.number(10, "hits"), 0);  // one that never ran
  EXPECT_TRUE(table.null(10, "total_ns"));
}

}  // namespace
}  // namespace fathom
