#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule cpu_bound();

namespace {

TEST(CpuBound, NamesTheFunctionAndTheLine) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1;work app.py 5").runs(900).waits("sleep", 100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "The program computes for 90.0 % of its time, 100.0 % of all processor time in work "
            "(app.py:5)");
  EXPECT_EQ(found[0].weight, Weight::critical);
}

TEST(CpuBound, ItsShareIsOfAllTheTimeAndTellsTheRunQueue) {
  Trace trace;
  SampleBuilder(trace)
      .at("work app.py 5")
      .runs(46, 888)
      .at("store app.py 7")
      .waits("sync", 66, "/data/log");
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "The program computes for 4.6 % of its time, 100.0 % of all processor time in work "
            "(app.py:5); for 88.8 % of it, it waits for a processor");
  EXPECT_EQ(found[0].weight, Weight::critical) << "it wants one for most of its time";
  EXPECT_NE(found[0].evidence[0].text.find(
                "88.8 % in the run queue (88.8 % where it computes, 0.0 % where it "
                "waits), 6.6 % blocked"),
            std::string::npos)
      << found[0].evidence[0].text;
}

TEST(CpuBound, OfSqliteNoPackageOfPythonIsAdvised) {
  Trace trace;
  SampleBuilder(trace)
      .at("ask app.py 5;sqlite3_step /usr/lib/libsqlite3.so.0 -1")
      .runs(600)
      .at("ask app.py 6")
      .runs(200);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fix.text.find("numpy"), std::string::npos) << found[0].fix.text;
  EXPECT_NE(found[0].fix.text.find("index"), std::string::npos) << found[0].fix.text;
}

/// The only finding about these samples.
Finding found_in(Trace trace) {
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? Finding{} : found[0];
}

bool advises(const Finding& finding, std::string_view text) {
  return finding.fix.text.find(text) != std::string::npos;
}

TEST(CpuBound, OfImportsItNamesTheLineThatBeganThem) {
  Trace trace;
  SampleBuilder(trace)
      .at("<module> tool.py 4;_find_and_load <frozen importlib._bootstrap> 1;<module> "
          "app/__init__.py 19;_find_and_load <frozen importlib._bootstrap> 1;get_data <frozen "
          "importlib._bootstrap_external> 9;read /usr/lib/libc.so.6 -1")
      .runs(800)
      .at("<module> tool.py 9;work tool.py 6")
      .runs(200);
  const Finding finding = found_in(std::move(trace));
  EXPECT_EQ(
      finding.title,
      "The program computes for 100.0 % of its time, 80.0 % of all processor time in imports, "
      "most for <module> (tool.py:4)");
  EXPECT_TRUE(advises(finding, "importtime")) << finding.fix.text;
}

TEST(CpuBound, WhatAModuleComputesWhileItIsImportedIsItsOwnWork) {
  Trace trace;
  SampleBuilder(trace)
      .at("<module> tool.py 4;_find_and_load <frozen importlib._bootstrap> 1;<module> tables.py 7")
      .runs(500)
      .at("<module> tool.py 4;_find_and_load <frozen importlib._bootstrap> 1;<module> tables.py "
          "9;fill tables.py 2")
      .runs(500);
  const Finding finding = found_in(std::move(trace));
  EXPECT_EQ(finding.title.find("imports"), std::string::npos) << finding.title;
  EXPECT_NE(finding.title.find("(tables.py:"), std::string::npos) << finding.title;
}

TEST(CpuBound, OfTheGarbageCollectorNoCompiledCodeIsAdvised) {
  const auto with_pauses = [](std::string_view total) {
    Trace trace;
    SampleBuilder(trace).at("grow app.py 5").runs(400, 600);
    trace.facts.push_back({"gc.total_ns", std::string(total)});
    trace.facts.push_back({"gc.pauses", "12"});
    return found_in(std::move(trace));
  };
  EXPECT_TRUE(advises(with_pauses("800000000"),
                      "Python's garbage collector paused the program 12 times, for 800.0 ms"));
  EXPECT_FALSE(advises(with_pauses("300000000"), "garbage collector"));
}

TEST(CpuBound, OfObjectsForOtherProcessesItAdvisesToSendLess) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.at("main app.py 9").waits("lock", 900);
  builder.thread(1, 2)
      .at("_handle_tasks /usr/lib/python3.11/multiprocessing/pool.py 5;send "
          "/usr/lib/python3.11/multiprocessing/connection.py 206;save "
          "/usr/lib/python3.11/lib-dynload/_pickle.so -1")
      .runs(900);
  const Finding finding = found_in(std::move(trace));
  EXPECT_NE(finding.title.find("in send (connection.py:206)"), std::string::npos) << finding.title;
  EXPECT_TRUE(advises(finding, "Send less to other processes")) << finding.fix.text;
}

TEST(CpuBound, OfTheKernelsWorkNoCompilerIsAdvised) {
  const auto with_kernel = [](std::int64_t user_ns, std::int64_t system_ns) {
    Trace trace;
    SampleBuilder(trace).at("fill /home/me/pages -1").runs(1000);
    trace.process_runs.push_back({.pid = 1,
                                  .role = trace.strings.intern("main"),
                                  .user_ns = user_ns,
                                  .system_ns = system_ns});
    return found_in(std::move(trace));
  };
  EXPECT_TRUE(advises(with_kernel(100'000'000, 900'000'000), "are the kernel's work"));
  EXPECT_TRUE(advises(with_kernel(900'000'000, 100'000'000), "-O3"));
}

TEST(CpuBound, OfProgramsWithoutAFileOfTheUserNoCompilerIsAdvised) {
  const auto in = [](std::string_view stack) {
    Trace trace;
    SampleBuilder(trace).thread(1, 1, "gzip").at(stack).runs(1000);
    return found_in(std::move(trace));
  };
  EXPECT_FALSE(advises(in("gzip+0x1230 /usr/bin/gzip -1"), "-O3"));
  EXPECT_TRUE(advises(in("gzip+0x1230 /home/me/gzip -1"), "-O3"));
  EXPECT_TRUE(advises(in("Parse /usr/bin/node -1"), "perf-basic-prof"));
}

/// How the title calls a function of a program in C++.
std::string called(std::string_view function) {
  Trace trace;
  SampleBuilder(trace).runs(1000);
  trace.stack_frames.push_back(
      {.function = trace.strings.intern(function), .file = trace.strings.intern("/home/me/app")});
  trace.stack_samples.back().frame = 0;
  const std::string title = found_in(std::move(trace)).title;
  const std::size_t begin = title.find("time in ") + 8;
  return title.substr(begin, title.rfind(" (app)") - begin);
}

TEST(CpuBound, OfALongNameTypesOfParametersAreLeftOut) {
  EXPECT_EQ(called("triad(std::vector<double, std::allocator<double> >&, std::vector<double, "
                   "std::allocator<double> > const&)"),
            "triad(...)");
  EXPECT_EQ(
      called("std::map<long, std::string, std::less<long>, std::allocator<int> >::find(long)"),
      "std::map<...>::find(...)");
  EXPECT_EQ(called("solve(int, long)"), "solve(int, long)");
  const std::string_view lambda =
      "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()";
  EXPECT_EQ(called(lambda), lambda);
}

TEST(CpuBound, ALineStandsForNoMoreThanItsOwnShare) {
  Trace trace;
  SampleBuilder(trace)
      .at("<module> app.py 5")
      .runs(380)
      .at("<module> app.py 9")
      .runs(310)
      .at("<module> app.py 5;price app.py 2")
      .runs(310);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "The program computes for 100.0 % of its time, 69.0 % of all processor time in "
            "<module> (app.py:5), 38.0 % at that line");
}

TEST(CpuBound, OfALibraryItNamesWhoCallsIt) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;decode app.py 4;scan /usr/lib/python3.11/json/scanner.py 30")
      .runs(300)
      .at("main app.py 2")
      .runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("75.0 % of all processor time in decode (app.py:4)"),
            std::string::npos)
      << found[0].title;
}

TEST(CpuBound, SaysThatSharesAreSampledAndBetweenWhatTheyLie) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.at("work app.py 5");
  for (int i = 0; i < 75; ++i) builder.runs(10);
  builder.at("main app.py 9");
  for (int i = 0; i < 25; ++i) builder.runs(10);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  // Wilson's interval of 75 of 100.
  const bool said = std::ranges::any_of(found[0].evidence, [](const Evidence& evidence) {
    return evidence.text.find("of 100 samples, 75.0 % stands for 65.7 % to 82.5 % with 95 %") !=
           std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(CpuBound, WithoutPythonItNamesTheThread) {
  Trace trace;
  SampleBuilder(trace).thread(1, 1, "sort").at("").runs(300);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("in native code of sort"), std::string::npos) << found[0].title;
}

TEST(CpuBound, OfCodeWithoutSymbolsItNamesTheThread) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1, "sort")
      .at("sort+0x1230 /opt/sort -1;libc.so.6+0x80 /usr/lib/libc.so.6 -1")
      .runs(300);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("in native code of sort"), std::string::npos) << found[0].title;
}

TEST(CpuBound, OfNativeCodeItNamesTheFunction) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1, "solver")
      .at("main /opt/solver -1;solve(int) /opt/solver -1")
      .runs(300);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("in solve(int) (solver)"), std::string::npos) << found[0].title;
}

TEST(CpuBound, OfNativeCodeNoPackageOfPythonIsAdvised) {
  for (const char* at : {"", "main /opt/solver -1;solve(int) /opt/solver -1"}) {
    Trace trace;
    SampleBuilder(trace).thread(1, 1, "solver").at(at).runs(300);
    const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].fix.text.find("numpy"), std::string::npos) << found[0].fix.text;
    EXPECT_NE(found[0].fix.text.find("threads"), std::string::npos) << found[0].fix.text;
  }
}

TEST(CpuBound, SaysWhereAProcessWasNotSampled) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(100).waits("child", 520);
  trace.process_runs.push_back(
      {.pid = 1, .role = trace.strings.intern("main"), .user_ns = 600'000'000, .system_ns = 0});
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "The program computes for 96.8 % of its time, 83.3 % of all processor time in threads "
            "or processes that ended before they were looked at, most waited for in main "
            "(app.py:1)");
}

TEST(CpuBound, IsSilentWhereTheProgramWaits) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(100).waits("sleep", 900);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(cpu_bound());
  EXPECT_TRUE(found.empty());
}

TEST(CpuBound, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(cpu_bound()).find("no samples"),
            std::string::npos);
}

TEST(CpuBound, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder(trace).at("main app.py 1;work app.py 5").runs(900).waits("sleep", 100);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(cpu_bound()).empty());
  EXPECT_EQ(judged.abstains(cpu_bound()), "");
}

}  // namespace
}  // namespace fathom
