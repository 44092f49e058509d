#include "analysis/samples/unsampled.h"

#include <string>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Four threads that Python started, of which so many were sampled.
StartedThreads threads(int seen) {
  TraceBuilder builder;
  for (int tid = 2; tid <= 5; ++tid)
    builder.on_thread(tid, 1).annotation("thread", 10 * tid, 5).category("phase");
  Trace trace = builder.build();
  // As recordings have them: beside the rows of threads.
  for (Track& track : trace.tracks) {
    track.kind = TrackKind::async;
    track.thread = trace.strings.intern("phase " + std::to_string(track.tid));
    track.tid = kAbsent;
  }
  SampleBuilder samples(trace);
  samples.thread(1, 1).at("main app.py 1").runs(100);
  for (int tid = 2; tid < 2 + seen; ++tid) samples.thread(1, tid).at("work app.py 5").runs(5);
  return started_threads(trace);
}

TEST(StartedThreads, ThoseThatEndedBeforeTheyWereLookedAtAreCounted) {
  EXPECT_EQ(threads(3).text(),
            "1 of 4 threads that Python started ended before they were looked at");
  EXPECT_EQ(threads(4).all, 4U);
  EXPECT_EQ(threads(4).text(), "") << "all were";
}

TEST(StartedThreads, WithoutSamplesNothingIsKnownOfThem) {
  TraceBuilder builder;
  builder.on_thread(2, 1).annotation("thread", 10, 5).category("phase");
  EXPECT_EQ(started_threads(builder.build()).text(), "");
}

}  // namespace
}  // namespace fathom
