#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule waiting();

namespace {

TEST(Waiting, SaysForWhatAndWhere) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1;ask app.py 7").waits("file", 900, "socket:[77]").runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "The program waits for 90.0 % of its time, longest for a socket: ask (app.py:7)");
  EXPECT_EQ(found[0].weight, Weight::critical);
}

/// What the program waits for.
std::string title_of(Trace trace) {
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  return found.empty() ? "" : found[0].title;
}

TEST(Waiting, WhoWaitsForASignalAndHasAChildWaitsForThat) {
  const auto with_child = [](bool child) {
    Trace trace;
    SampleBuilder builder(trace);
    builder.thread(1, 1, "timeout").waits("call", 1000, "sigsuspend");
    builder.thread(2, 2).at("ask app.py 7").waits("sleep", 1000);
    trace.process_runs.push_back({.pid = 1, .role = trace.strings.intern("main")});
    if (child) trace.process_runs.push_back({.pid = 2, .parent = 1});
    return title_of(std::move(trace));
  };
  EXPECT_EQ(with_child(true),
            "The program waits for 100.0 % of its time, longest for a time to pass (sleep): ask "
            "(app.py:7)");
  EXPECT_NE(with_child(false).find("not known"), std::string::npos) << with_child(false);
}

TEST(Waiting, IsSilentWhereTheGlobalInterpreterLockHasAFindingOfItsOwn) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("count app.py 5").runs(250).waits("gil", 750);
  EXPECT_EQ(title_of(std::move(trace)), "");
}

TEST(Waiting, IsSilentWhereALockHasAFindingOfItsOwn) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("update app.py 5").runs(50).waits("lock", 950);
  EXPECT_EQ(title_of(std::move(trace)), "");
}

TEST(Waiting, WhoStartsAProcessByVforkWaitsForThat) {
  Trace trace;
  SampleBuilder(trace)
      .at("check app.py 7;_execute_child /usr/lib/python3.11/subprocess.py 9")
      .waits("call", 1000, "vfork");
  EXPECT_NE(title_of(std::move(trace)).find("longest for a child process: check (app.py:7)"),
            std::string::npos);
}

TEST(Waiting, AShellAtThePipeOfItsCommandWaitsForThat) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.thread(1, 1, "bash").waits("file", 1000, "pipe:[7]");
  builder.thread(2, 2).at("ask app.py 7").waits("sleep", 1000);
  trace.process_runs.push_back({.pid = 1, .role = trace.strings.intern("main")});
  trace.process_runs.push_back({.pid = 2, .parent = 1});
  EXPECT_NE(title_of(std::move(trace)).find("ask (app.py:7)"), std::string::npos);
}

TEST(Waiting, AnEpollSetIsTheLoopOfAProgramWithoutPython) {
  Trace native;
  SampleBuilder(native).thread(1, 1, "node").waits("poll", 1000, "anon_inode:[eventpoll]");
  EXPECT_NE(title_of(std::move(native)).find("something to do in an event loop"),
            std::string::npos);
  Trace python;
  SampleBuilder(python).at("serve app.py 3").waits("poll", 1000, "anon_inode:[eventpoll]");
  EXPECT_NE(title_of(std::move(python)).find("a file, pipe or socket"), std::string::npos);
}

bool says(const Finding& finding, const std::string& text) {
  return std::ranges::any_of(finding.evidence, [&text](const Evidence& evidence) {
    return evidence.text.find(text) != std::string::npos;
  });
}

TEST(Waiting, ItsSharesAreOfAllTheTimeAndTellTheRunQueue) {
  Trace trace;
  SampleBuilder(trace).at("insert app.py 7").runs(30, 364).waits("file", 606, "/data/log");
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "The program waits for 60.6 % of its time, longest for /data/log: insert (app.py:7); "
            "for 36.4 % of it, it waits for a processor");
  EXPECT_EQ(found[0].weight, Weight::critical);
  EXPECT_TRUE(says(found[0],
                   "of the 1.000 s of the main thread, 3.0 % are on a processor, 36.4 % in the run "
                   "queue (1.7 % where it computes, 34.7 % where it waits), 60.6 % blocked"))
      << found[0].evidence[0].text;
  EXPECT_TRUE(says(found[0], "waits for a file, pipe or socket: 60.6 %"));
}

TEST(Waiting, IsNoVerdictWhereAProcessorIsWantedForMostOfTheTime) {
  Trace trace;
  SampleBuilder(trace)
      .at("work app.py 5")
      .runs(46, 888)
      .at("store app.py 7")
      .waits("sync", 66, "/data/log");
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.starts_with("The program waits for 6.6 % of its time"))
      << found[0].title;
  EXPECT_EQ(found[0].weight, Weight::warning);
}

TEST(Waiting, WhatFsyncComputesIsWaitingToo) {
  Trace trace;
  SampleBuilder(trace)
      .at("store app.py 7")
      .waits("sync", 200, "/data/log")
      .at("store app.py 7;fsync /usr/lib/x86_64-linux-gnu/libc.so.6 -1")
      .runs(600)
      .at("main app.py 9")
      .runs(200);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.starts_with("The program waits for 80.0 % of its time"))
      << found[0].title;
  EXPECT_EQ(found[0].weight, Weight::critical);
  EXPECT_TRUE(says(found[0], "20.0 % are blocked in fsync or its like, 60.0 % on a processor"));
  EXPECT_NE(found[0].fix.text.find("group commit"), std::string::npos) << found[0].fix.text;
}

TEST(Waiting, WhoOnlyLooksNowAndThenWaitsOnABusyMachineToo) {
  Trace trace;
  SampleBuilder(trace).at("poll app.py 7").runs(100, 700).waits("sleep", 200);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].weight, Weight::critical) << "its sleeps are as long there";
}

TEST(Waiting, OfFsyncItAdvisesFewerOfThem) {
  Trace trace;
  SampleBuilder(trace).at("store app.py 7").waits("sync", 900, "/data/log").runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "The program waits for 90.0 % of its time, longest for /data/log to be on disk "
            "(fsync): store (app.py:7)");
  EXPECT_NE(found[0].fix.text.find("group commit"), std::string::npos) << found[0].fix.text;
  EXPECT_NE(found[0].fix.text.find("power failure"), std::string::npos) << "its caveat";
  EXPECT_NE(found[0].fix.after.find("os.fsync"), std::string::npos);
  EXPECT_EQ(found[0].fix.text.find("SQLite"), std::string::npos);
  EXPECT_EQ(found[0].fix.text.find("PRAGMA"), std::string::npos);
}

const std::string kSqlite =
    "insert app.py 7;pysqlite_connection_commit /usr/lib/python3.11/lib-dynload/_sqlite3.so -1;"
    "sqlite3_step /usr/lib/libsqlite3.so.0 -1";

TEST(Waiting, OfSqliteItAdvisesFewerCommits) {
  Trace trace;
  SampleBuilder(trace).at(kSqlite).waits("sync", 600, "/data/a.db").waits("file", 300).runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("/data/a.db to be on disk (fsync): insert (app.py:7)"),
            std::string::npos)
      << found[0].title;
  EXPECT_NE(found[0].fix.text.find("one transaction"), std::string::npos) << found[0].fix.text;
  EXPECT_NE(found[0].fix.text.find("synchronous=NORMAL"), std::string::npos);
  EXPECT_NE(found[0].fix.text.find("power failure"), std::string::npos) << "its caveat";
  EXPECT_TRUE(says(found[0],
                   "60.0 % are blocked in fsync or its like, 0.0 % on a processor there; 100.0 % "
                   "are in SQLite"));
}

TEST(Waiting, OfSqliteThatWaitsForAnotherConnectionItSaysSo) {
  Trace trace;
  SampleBuilder(trace).at(kSqlite).waits("sleep", 900).runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].fix.text.find("holds the database's lock"), std::string::npos)
      << found[0].fix.text;
}

TEST(Waiting, WhoReadsOrSleepsIsToldNothingOfDisks) {
  for (const char* cause : {"file", "sleep", "child"}) {
    Trace trace;
    SampleBuilder(trace).at("ask app.py 7").waits(cause, 900, "/data/log").runs(100);
    const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].fix.text.find("fsync"), std::string::npos) << cause;
    EXPECT_EQ(found[0].title.find("on disk"), std::string::npos) << cause;
  }
}

TEST(Waiting, TheRecordersStartIsNoFunctionOfTheProgram) {
  Trace trace;
  SampleBuilder(trace)
      .at("<module> /tmp/s/hook/sitecustomize.py 60;_begin /tmp/s/hook/sitecustomize.py 30")
      .waits("file", 900, "/usr/lib/x.so")
      .runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].title.ends_with(": Fathom's own recorder")) << found[0].title;
}

TEST(Waiting, ThreadsThatWaitAtATimeAreNotTheLongest) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.at("slow app.py 3").waits("sleep", 1000);
  builder.at("main app.py 1;Thread.join /usr/lib/python3.11/threading.py 1").waits("lock", 400);
  for (int tid = 2; tid < 7; ++tid)
    builder.thread(1, tid).at("worker app.py 5").waits("sleep", 400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("(sleep): slow (app.py:3)"), std::string::npos) << found[0].title;
}

TEST(Waiting, SaysWhereOtherProgramsHadTheProcessors) {
  Trace trace;
  SampleBuilder builder(trace);
  builder.processors(2).at("ask app.py 7").waits("file", 900, "socket:[77]");
  for (int turn = 0; turn < 10; ++turn) builder.runs(5, 55);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  const bool said = std::ranges::any_of(found[0].evidence, [](const Evidence& evidence) {
    return evidence.text.find("busy with other programs") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(Waiting, IsAWarningWhereItComputesMore) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(700).waits("sleep", 300);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].weight, Weight::warning) << "it is no verdict where computing takes more";
}

TEST(Waiting, IsSilentWhereTheProgramComputes) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(900).waits("sleep", 100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  EXPECT_TRUE(found.empty());
}

TEST(Waiting, OfAProgramWithoutPythonNoPythonIsAdvised) {
  Trace trace;
  SampleBuilder(trace).at("main /opt/poll -1;look() /opt/poll -1").waits("sleep", 900).runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(waiting());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].title.find("look() (poll)"), std::string::npos) << found[0].title;
  EXPECT_EQ(found[0].fix.before, "");
  EXPECT_EQ(found[0].fix.after, "");
  EXPECT_NE(found[0].fix.text.find("a condition variable"), std::string::npos);
}

TEST(Waiting, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(waiting()).find("no samples"), std::string::npos);
}

TEST(Waiting, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder(trace).at("main app.py 1;ask app.py 7").waits("file", 900, "socket:[77]").runs(100);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(waiting()).empty());
  EXPECT_EQ(judged.abstains(waiting()), "");
}

}  // namespace
}  // namespace fathom
