// Of a program whose threads were sampled: which finding is the verdict, and what stands beside it.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Each of the threads takes turns: it runs, waits for a processor of two and for a lock; ms.
Verdict verdict_of(int threads, int runs, int queued, int locked) {
  TraceBuilder builder;
  builder.annotation("main", 0, 1'000'000'000);
  Trace trace = builder.build();
  SampleBuilder samples(trace);
  samples.processors(2);
  for (int tid = 1; tid <= threads; ++tid) {
    samples.thread(1, tid).at("update app.py 5");
    for (int turn = 0; turn < 50; ++turn) samples.waits("lock", locked).runs(runs, queued);
  }
  trace.process_runs.push_back({.pid = 1, .role = trace.strings.intern("main")});
  const Session session(std::move(trace), "run");
  Result<Diagnosis> diagnosis = diagnose(session, {});
  EXPECT_TRUE(diagnosis.ok());
  return diagnosis.ok() ? diagnosis->verdict : Verdict();
}

TEST(SampledVerdict, NamesProcessorsBesideLocksWhereBothMatter) {
  const Verdict locks = verdict_of(24, 6, 24, 36);
  EXPECT_EQ(locks.id, VerdictId::lock_contention) << locks.sentence;
  EXPECT_NE(locks.sentence.find("Too few processors"), std::string::npos) << locks.sentence;
  const Verdict few = verdict_of(12, 6, 24, 3);
  EXPECT_EQ(few.id, VerdictId::too_few_cores) << few.sentence;
  EXPECT_NE(few.sentence.find("wait for a lock"), std::string::npos) << few.sentence;
}

TEST(SampledVerdict, NamesNoProcessorsWhereALockKeepsThreads) {
  const Verdict verdict = verdict_of(8, 2, 18, 20);
  EXPECT_EQ(verdict.id, VerdictId::lock_contention) << verdict.sentence;
  EXPECT_EQ(verdict.sentence.find("processors"), std::string::npos) << verdict.sentence;
}

}  // namespace
}  // namespace fathom
