#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "base/lock_words.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule lock_contention();

namespace {

TEST(LockContention, CountsThreadsThatWait) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 3; ++tid)
    builder.thread(1, tid).at("update app.py 5").waits("lock", 600).waits("sleep", 400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].verify.find(" TRACE"), std::string::npos) << "a command needs its input";
  EXPECT_EQ(found[0].title,
            "1.8 threads on the average wait for a lock, most in update (app.py:5)");
}

bool says(const Finding& finding, const std::string& text) {
  return std::ranges::any_of(finding.evidence, [&text](const Evidence& evidence) {
    return evidence.text.find(text) != std::string::npos;
  });
}

TEST(LockContention, TitleAndEvidenceHaveTheNumberOfTheTables) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("update app.py 5").waits("lock", 300).runs(100, 600);
  builder.thread(1, 5).at("idle app.py 9").waits("sleep", 1000);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "1.2 threads on the average wait for a lock, most in update (app.py:5)");
  EXPECT_EQ(
      found[0].evidence[0].text,
      "of 5 threads that were looked at, 4 were met waiting for locks, for 1.200 s of a run of "
      "1.000 s, all together");
  EXPECT_TRUE(says(found[0], "in the run queue, these would be 3 threads on the average"));
}

TEST(LockContention, ThreadsThatNoLookHasMetWaitingAreCountedApart) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 4; ++tid)
    builder.thread(1, tid).at("update app.py 5").waits("lock", 500);
  builder.thread(1, 5).at("").waits("", 400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "of 5 threads that were looked at, 4 were met waiting for locks"));
  EXPECT_TRUE(says(found[0], "; 1 more waited where no look met them"));
}

TEST(LockContention, WhereTheHoldersWaitForADiskThatIsAdvised) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 3; ++tid)
    builder.thread(1, tid)
        .at("store app.py 5")
        .waits("lock", 600)
        .at("store app.py 6")
        .waits("sync", 300, "/data/log")
        .runs(100);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "in fsync or its like for 900.0 ms of the 1.200 s"));
  EXPECT_NE(found[0].fix.text.find("group commit"), std::string::npos) << found[0].fix.text;
}

TEST(LockContention, WhoWaitsForAThreadToEndWaitsForNoLock) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;Thread.join /usr/lib/python3.11/threading.py 1")
      .waits("lock", 1000);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  EXPECT_TRUE(found.empty());
}

TEST(LockContention, OfThreadsWithoutPythonNothingIsKnown) {
  Trace trace;
  SampleBuilder(trace).thread(1, 1, "worker").at("").waits("lock", 1000);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  EXPECT_TRUE(found.empty());
}

TEST(LockContention, MutexesOfNativeThreadsCount) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 3; ++tid)
    builder.thread(1, tid, "solver").at("").waits("lock", 600, kMutexObject).runs(400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "1.8 threads on the average wait for a lock, most in native code of solver");
}

TEST(LockContention, OfNativeThreadsNoPythonIsAdvised) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 3; ++tid)
    builder.thread(1, tid, "solver").at("").waits("lock", 600, kMutexObject).runs(400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].fix.before, "");
  EXPECT_EQ(found[0].fix.after, "");
}

TEST(LockContention, ALockBetweenProcessesCounts) {
  Trace trace;
  SampleBuilder builder(trace);
  for (int pid = 1; pid <= 3; ++pid)
    builder.thread(pid, pid)
        .at("update app.py 5")
        .waits("lock", 600, kSharedSemaphoreObject)
        .waits("sleep", 400);
  const std::vector<Finding> found = JudgedTrace(std::move(trace)).findings(lock_contention());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title,
            "1.8 threads on the average wait for a lock, most in update (app.py:5)");
}

TEST(LockContention, WithoutSamplesItAbstains) {
  TraceBuilder builder;
  EXPECT_NE(JudgedTrace(builder.build()).abstains(lock_contention()).find("no samples"),
            std::string::npos);
}

TEST(LockContention, WhereOperatorsWereRecordedItIsSilent) {
  TraceBuilder recorded;
  recorded.op("aten::mm", 1, 5);
  Trace trace = recorded.build();
  SampleBuilder builder(trace);
  for (int tid = 1; tid <= 3; ++tid)
    builder.thread(1, tid).at("update app.py 5").waits("lock", 600).waits("sleep", 400);
  const JudgedTrace judged(std::move(trace));
  EXPECT_TRUE(judged.findings(lock_contention()).empty());
  EXPECT_EQ(judged.abstains(lock_contention()), "");
}

}  // namespace
}  // namespace fathom
