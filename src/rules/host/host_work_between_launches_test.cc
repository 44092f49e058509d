#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule host_work_between_launches();

namespace {

constexpr std::int64_t kUs = 1000;

/// Three steps of 10 ms: Python for `python` µs, then a kernel until the step's end.
void steps(TraceBuilder& builder, std::int64_t python) {
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 10'000 * kUs * i;
    const std::int64_t launch = at + python * kUs;
    builder.step(i, at, 10'000 * kUs);
    builder.op("aten::mm", launch, 20 * kUs);
    builder.runtime("cudaLaunchKernel", launch + 10 * kUs, 5 * kUs, 100 + i);
    builder.kernel("gemm", launch + 16 * kUs, (9984 - python) * kUs, 100 + i);
  }
}

TEST(HostWorkBetweenLaunches, IsToldWhenTheDeviceWaitsForPython) {
  TraceBuilder builder;
  steps(builder, 4000);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::host);
  EXPECT_NEAR(judged.rules().percent(total(findings[0].claims)), 40, 1);
  EXPECT_NE(findings[0].evidence[0].text.find("with_stack"), std::string::npos);
  EXPECT_FALSE(findings[0].edits.empty());
}

TEST(HostWorkBetweenLaunches, RecordedLinesDivideTheGaps) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 10'000 * kUs * i;
    builder.line("/home/me/train.py:3 main", at, 1000 * kUs);
    builder.line("/home/me/train.py:7 tokenize", at + 1000 * kUs, 3000 * kUs);
    builder.line("/home/me/train.py:9 main", at + 4000 * kUs, 6000 * kUs);
  }
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].title.starts_with(
      "The device waits for Python at /home/me/train.py:7 (text is tokenised)"))
      << findings[0].title;
  EXPECT_EQ(findings[0].evidence[0].location, "/home/me/train.py:7");
  EXPECT_EQ(findings[0].confidence, Confidence::high);
  EXPECT_NEAR(judged.rules().percent(total(findings[0].claims)), 30, 1);
  EXPECT_EQ(findings[1].evidence[0].location, "/home/me/train.py:3");
  EXPECT_NEAR(judged.rules().percent(total(findings[1].claims)), 10, 1);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.evidence[0].text.find("not recorded"), std::string::npos)
        << finding.evidence[0].text;
  }
}

TEST(HostWorkBetweenLaunches, OutsideOfRecordedLinesNoLineIsAround) {
  TraceBuilder builder;
  steps(builder, 4000);
  builder.line("/home/me/train.py:9 main", 5000 * kUs, 1000 * kUs);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("no line of the program is around them"),
            std::string::npos)
      << findings[0].evidence[0].text;
}

/// Three steps of 10 ms on the host alone, of which Python takes 6 ms, and what the thread did.
std::vector<Finding> on_the_host(std::string_view computed) {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
    builder.op("aten::mm", 10'000 * kUs * i, 4000 * kUs);
  }
  builder.fact("thread_time.other.steps", "10");
  builder.fact("thread_time.other.wall_ns", "1000");
  builder.fact("thread_time.other.cpu_ns", computed);
  builder.fact("thread_time.waits", R"([["train.py:8 in other",7]])");
  return JudgedTrace(builder).findings(host_work_between_launches());
}

TEST(HostWorkBetweenLaunches, SaysWhereTheThreadWaitsInsteadOfRunning) {
  const std::vector<Finding> waits = on_the_host("400");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_TRUE(waits[0].title.starts_with("The main thread waits between operators"))
      << waits[0].title;
  EXPECT_NE(waits[0].evidence[0].text.find("most often at train.py:8 in other"), std::string::npos)
      << waits[0].evidence[0].text;
  const std::vector<Finding> computes = on_the_host("900");
  ASSERT_EQ(computes.size(), 1U);
  EXPECT_TRUE(computes[0].title.starts_with("Python runs between operators")) << computes[0].title;
  EXPECT_NE(computes[0].evidence[0].text.find("lines not recorded"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, OfAWaitNoTensorOperatorsAreAdvised) {
  const std::vector<Finding> waits = on_the_host("400");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].fix.text.find("tensor operators"), std::string::npos) << waits[0].fix.text;
  EXPECT_NE(waits[0].fix.text.find("Ask ahead"), std::string::npos) << waits[0].fix.text;
  const std::vector<Finding> computes = on_the_host("900");
  ASSERT_EQ(computes.size(), 1U);
  EXPECT_NE(computes[0].fix.text.find("tensor operators"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, OfARequestThereIsNoNextInputToPrepare) {
  const auto answered = [](std::string_view computed) {
    TraceBuilder builder;
    builder.fact("step_by", "\"request\"");
    for (int i = 0; i < 3; ++i) {
      builder.step(i, 10'000 * kUs * i, 9'000 * kUs);
      builder.op("aten::mm", (10'000 * i + 6'000) * kUs, 2000 * kUs);
    }
    builder.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
    builder.fact("thread_time.other.cpu_ns", computed);
    builder.fact("thread_time.other.preempted_ns", "0");
    builder.fact("thread_time.waits", R"([["serve.py:8 in ask",7]])");
    return JudgedTrace(builder).findings(host_work_between_launches());
  };
  const std::vector<Finding> computes = answered("950");
  ASSERT_FALSE(computes.empty());
  EXPECT_EQ(computes[0].fix.text.find("next input"), std::string::npos) << computes[0].fix.text;
  EXPECT_NE(computes[0].fix.text.find("for each request"), std::string::npos);
  const std::vector<Finding> waits = answered("300");
  ASSERT_FALSE(waits.empty());
  EXPECT_TRUE(waits[0].title.starts_with("The thread that answers waits")) << waits[0].title;
  EXPECT_NE(waits[0].fix.after.find("asyncio.to_thread"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, IsNotTimeWithoutAProcessor) {
  const auto preempted = [](std::string_view cpu, std::string_view without) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
      builder.op("aten::mm", 10'000 * kUs * i, 4000 * kUs);
    }
    builder.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
    builder.fact("thread_time.other.cpu_ns", cpu);
    builder.fact("thread_time.other.preempted_ns", without);
    return JudgedTrace(builder).findings(host_work_between_launches());
  };
  EXPECT_TRUE(preempted("100", "900").empty());
  const std::vector<Finding> much = preempted("400", "600");
  ASSERT_EQ(much.size(), 1U);
  EXPECT_NE(much[0].evidence[0].text.find("for 36.0 % of the step the thread had no processor"),
            std::string::npos)
      << much[0].evidence[0].text;
  const std::vector<Finding> little = preempted("900", "100");
  ASSERT_EQ(little.size(), 1U);
  EXPECT_EQ(little[0].evidence[0].text.find("no processor"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, KnowsTheCheckpointsThatARunTimed) {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
    builder.op("aten::mm", 10'000 * kUs * i, 4000 * kUs);
  }
  builder.on_thread(99).slice(SliceKind::other, "checkpoint", 25'000 * kUs, 4000 * kUs);
  Trace trace = builder.build();
  for (Category& category : trace.categories)
    if (category.kind == SliceKind::other) category.name = trace.strings.intern("phase");
  const std::vector<Finding> findings =
      JudgedTrace(std::move(trace)).findings(host_work_between_launches());
  const auto saving = std::ranges::find(findings, "saving", &Finding::key);
  ASSERT_NE(saving, findings.end());
  EXPECT_NE(saving->title.find("(state is saved)"), std::string::npos) << saving->title;
  EXPECT_EQ(to_ns(total(saving->claims)), 4000 * kUs);
  EXPECT_NE(saving->fix.text.find("Save less often"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, TellsWhatEndsACheckpointWithIt) {
  const auto found = [](std::int64_t saving) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
      builder.op("aten::mm", 10'000 * kUs * i, (i == 2 ? 4000 : 10'000) * kUs);
    }
    builder.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
    builder.fact("thread_time.other.cpu_ns", "100").fact("thread_time.other.preempted_ns", "0");
    builder.on_thread(99).slice(SliceKind::other, "checkpoint", 24'500 * kUs, saving * kUs);
    Trace trace = builder.build();
    for (Category& category : trace.categories)
      if (category.kind == SliceKind::other) category.name = trace.strings.intern("phase");
    return JudgedTrace(std::move(trace)).findings(host_work_between_launches());
  };
  // It is synced after that; both are one stretch of 6 ms.
  const std::vector<Finding> one = found(5000);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].key, "saving");
  EXPECT_EQ(to_ns(total(one[0].claims)), 6000 * kUs);
  EXPECT_EQ(found(1500).size(), 2U);
}

TEST(HostWorkBetweenLaunches, OfAPassPreparesNoInputBetweenItsOperators) {
  const auto fix = [](std::int64_t begin) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t at = 10'000 * kUs * i;
      builder.step(i, at, 10'000 * kUs);
      if (begin == 0) builder.op("aten::mm", at, 2000 * kUs);
      builder.op("aten::mm", at + 6000 * kUs, 4000 * kUs);
    }
    const std::vector<Finding> findings =
        JudgedTrace(builder).findings(host_work_between_launches());
    return findings.size() == 1 ? findings[0].fix.after : "no finding";
  };
  EXPECT_EQ(fix(0), "");
  EXPECT_NE(fix(6000).find("pool.submit(prepare"), std::string::npos) << fix(6000);
}

TEST(HostWorkBetweenLaunches, OfVllmIsTheServersAndOfAnOptimizerItsOwn) {
  TraceBuilder served;
  steps(served, 4000);
  served.op("vllm::moe_forward", 29'990 * kUs, 1);
  const Fix fix = JudgedTrace(served).findings(host_work_between_launches()).at(0).fix;
  EXPECT_NE(fix.after.find("async_scheduling"), std::string::npos) << fix.after;
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i)
    builder.annotation("Optimizer.step#Mine.step", 10'000 * kUs * i + 1, 9000 * kUs);
  steps(builder, 4000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "optimizer");
}

/// Steps of 10 ms without lines, of which the first `still` have 6 ms in no operator.
std::vector<Finding> standing_still(int still) {
  TraceBuilder builder;
  for (int i = 0; i < 8; ++i) {
    builder.step(i, 10'000 * kUs * i, 10'000 * kUs);
    builder.op("aten::mm", 10'000 * kUs * i, (i < still ? 4000 : 10'000) * kUs);
  }
  return JudgedTrace(builder).findings(host_work_between_launches());
}

TEST(HostWorkBetweenLaunches, IsUnsureOfGapsInFewSteps) {
  const std::vector<Finding> rare = standing_still(2);
  ASSERT_EQ(rare.size(), 1U);
  EXPECT_EQ(rare[0].confidence, Confidence::low);
  EXPECT_NE(rare[0].fix.text.find("Record again"), std::string::npos) << rare[0].fix.text;
  const std::vector<Finding> usual = standing_still(6);
  ASSERT_EQ(usual.size(), 1U);
  EXPECT_EQ(usual[0].confidence, Confidence::medium);
}

TEST(HostWorkBetweenLaunches, IsUnsureOfGapsThatAreNowHereNowThere) {
  // Eight operators a step, and after one of them 2 ms of nothing.
  const auto found = [](std::int64_t moves) {
    constexpr std::array<std::string_view, 8> kNames = {"aten::a", "aten::b", "aten::c", "aten::d",
                                                        "aten::e", "aten::f", "aten::g", "aten::h"};
    TraceBuilder builder;
    for (std::int64_t i = 0; i < 8; ++i) {
      std::int64_t at = 10'000 * kUs * i;
      builder.step(i, at, 10'000 * kUs);
      for (std::int64_t k = 0; k < 8; ++k) {
        builder.op(kNames[static_cast<std::size_t>(k)], at, 1000 * kUs);
        at += (k == moves * i ? 3000 : 1000) * kUs;
      }
    }
    return JudgedTrace(builder).findings(host_work_between_launches());
  };
  const std::vector<Finding> one_place = found(0);
  ASSERT_EQ(one_place.size(), 1U);
  EXPECT_EQ(one_place[0].confidence, Confidence::medium);
  const std::vector<Finding> any_place = found(1);
  ASSERT_EQ(any_place.size(), 1U);
  EXPECT_EQ(any_place[0].confidence, Confidence::low);
}

/// Four steps, each of a hundred rounds of two operators of 40 µs; after every n-th round 1 ms of
/// nothing. The program's function is around all of them where `frame` is set.
std::vector<Finding> rounds(std::int64_t every, bool frame) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t begin = at;
    for (std::int64_t round = 0; round < 100; ++round) {
      builder.op("aten::cat", at, 40 * kUs);
      builder.op("aten::linear", at + 42 * kUs, 40 * kUs);
      at += (round % every == 0 ? 1000 : 84) * kUs;
    }
    builder.annotation("talk", begin, at - begin);
    if (frame) builder.frame("talk.py(7): talk", begin, at - begin);
    builder.step(i, begin, at - begin);
  }
  return JudgedTrace(builder).findings(host_work_between_launches());
}

TEST(HostWorkBetweenLaunches, IsUnsureOfAFewRoundsOfALoopThatStandStill) {
  const std::vector<Finding> few = rounds(25, true);
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(few[0].confidence, Confidence::low);
  const std::vector<Finding> most = rounds(2, true);
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].confidence, Confidence::high);
  const std::vector<Finding> in_a_range = rounds(2, false);
  ASSERT_EQ(in_a_range.size(), 1U);
  EXPECT_EQ(in_a_range[0].confidence, Confidence::medium)
      << "a range does not show what runs in it";
}

TEST(HostWorkBetweenLaunches, IsSureOfAFunctionThatRunsInFewSteps) {
  const auto found = [](bool in_all) {
    TraceBuilder builder;
    for (std::int64_t i = 0; i < 8; ++i) {
      const std::int64_t at = 10'000 * kUs * i;
      builder.step(i, at, 10'000 * kUs);
      builder.op("aten::relu", at, 1000 * kUs);
      builder.op("aten::mm", at + (i < 2 ? 6000 : 1150) * kUs, (i < 2 ? 4000 : 8850) * kUs);
      if (i < 2 || in_all)
        builder.frame("train.py(9): report", at + 1000 * kUs, (i < 2 ? 5000 : 150) * kUs);
    }
    return JudgedTrace(builder).findings(host_work_between_launches());
  };
  const std::vector<Finding> only_then = found(false);
  ASSERT_EQ(only_then.size(), 1U);
  EXPECT_EQ(only_then[0].confidence, Confidence::high);
  const std::vector<Finding> always = found(true);
  ASSERT_EQ(always.size(), 1U);
  EXPECT_EQ(always[0].confidence, Confidence::low) << "it takes 0.15 ms in the other steps";
  EXPECT_EQ(always[0].title.find("The main thread stands still"), 0U) << always[0].title;
}

TEST(HostWorkBetweenLaunches, NamesFreeingBehindLargeTensors) {
  const auto found = [](std::string_view shapes) {
    TraceBuilder builder;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t at = 10'000 * kUs * i;
      builder.step(i, at, 10'000 * kUs);
      builder.op("aten::div", at, 1000 * kUs).shapes(shapes).types(R"(["float"])");
      builder.op("aten::mm", at + 4000 * kUs, 6000 * kUs);
    }
    builder.frame("film.py(3): <module>", 0, 40'000 * kUs);
    return JudgedTrace(builder).findings(host_work_between_launches());
  };
  const std::vector<Finding> large = found("[[2048,4096]]");
  ASSERT_EQ(large.size(), 1U);
  EXPECT_EQ(large[0].title.find("Memory is freed or Python runs"), 0U) << large[0].title;
  EXPECT_EQ(large[0].confidence, Confidence::medium);
  EXPECT_NE(large[0].fix.text.find("profile_memory=True"), std::string::npos);
  const std::vector<Finding> small = found("[[64,64]]");
  ASSERT_EQ(small.size(), 1U);
  EXPECT_EQ(small[0].confidence, Confidence::high);
}

TEST(HostWorkBetweenLaunches, TakesNotAllThatIsAugmentedForImages) {
  const auto fix_of = [](std::string_view frame) {
    TraceBuilder builder;
    steps(builder, 4000);
    for (int i = 0; i < 3; ++i) builder.frame(frame, 10'000 * kUs * i + 1, 3990 * kUs);
    const std::vector<Finding> findings =
        JudgedTrace(builder).findings(host_work_between_launches());
    return findings.size() == 1 ? findings[0].title + findings[0].fix.text : "";
  };
  const std::string tokens = fix_of("train.py(40): augment_tokens");
  EXPECT_NE(tokens.find("samples are augmented"), std::string::npos) << tokens;
  EXPECT_EQ(tokens.find("torchvision"), std::string::npos) << tokens;
  EXPECT_NE(fix_of("albumentations/core.py(9): apply").find("torchvision"), std::string::npos);
}

/// The same with samples of the main thread's stack: at each time in µs it was at a line of
/// train.py and had run for 100 µs.
Trace sampled(TraceBuilder& builder, const std::vector<std::pair<std::int64_t, int>>& looks) {
  Trace trace = builder.build();
  const auto host = std::ranges::find(trace.tracks, TrackKind::host_thread, &Track::kind);
  for (const auto& [time, line] : looks) {
    trace.stack_frames.push_back({.parent = kNoFrame,
                                  .function = trace.strings.intern("prepare"),
                                  .file = trace.strings.intern("/home/me/train.py"),
                                  .line = line});
    trace.stack_samples.push_back(
        {.pid = host->pid,
         .tid = host->tid,
         .time = time_ns(time * kUs),
         .frame = static_cast<std::uint32_t>(trace.stack_frames.size() - 1),
         .on_cpu = duration_ns(100 * kUs)});
  }
  return trace;
}

TEST(HostWorkBetweenLaunches, SamplesInTheGapsNameTheLine) {
  TraceBuilder builder;
  steps(builder, 4000);
  // Eight looks in gaps, six of them at line 7; many elsewhere, at a line that counts for nothing.
  std::vector<std::pair<std::int64_t, int>> looks = {{10'500, 7}, {11'000, 7}, {12'000, 9},
                                                     {13'000, 7}, {20'500, 7}, {21'000, 9},
                                                     {22'000, 7}, {23'000, 7}};
  for (int i = 0; i < 30; ++i) looks.emplace_back(15'000 + 100 * i, 30);
  const std::vector<Finding> findings =
      JudgedTrace(sampled(builder, looks)).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_GE(findings[0].evidence.size(), 2U);
  const Evidence& line = findings[0].evidence[1];
  EXPECT_EQ(line.location, "/home/me/train.py:7");
  EXPECT_NE(line.text.find("sampled"), std::string::npos);
  EXPECT_NE(line.text.find("train.py:7 in prepare has 75"), std::string::npos) << line.text;
  // Wilson's interval of 6 of 8.
  EXPECT_NE(line.text.find("(40.9 % to 92.9 % with 95 %, by 8 samples)"), std::string::npos)
      << line.text;
}

TEST(HostWorkBetweenLaunches, FewSamplesNameNothing) {
  TraceBuilder builder;
  steps(builder, 4000);
  const std::vector<Finding> findings =
      JudgedTrace(sampled(builder, {{11'000, 7}, {12'000, 7}, {13'000, 7}, {21'000, 7}}))
          .findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].evidence.size(), 1U);
}

TEST(HostWorkBetweenLaunches, WhereFramesWereRecordedSamplesSayNothing) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i) builder.frame("train.py(42): prepare", 10'000 * kUs * i, 3990 * kUs);
  std::vector<std::pair<std::int64_t, int>> looks;
  for (int i = 0; i < 9; ++i) looks.emplace_back(10'500 + 100 * i, 7);
  for (const Finding& finding :
       JudgedTrace(sampled(builder, looks)).findings(host_work_between_launches())) {
    for (const Evidence& evidence : finding.evidence)
      EXPECT_EQ(evidence.text.find("sampled"), std::string::npos) << evidence.text;
  }
}

TEST(HostWorkBetweenLaunches, NamesTheLineAndTheWork) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i) {
    builder.frame("train.py(42): prepare", 10'000 * kUs * i + 1, 3990 * kUs);
    builder.frame("tokenizers/bpe.py(7): tokenize", 10'000 * kUs * i + 2, 3980 * kUs);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings[0].title.find("text is tokenised"), std::string::npos);
  EXPECT_FALSE(findings[0].key.empty());
}

TEST(HostWorkBetweenLaunches, NamesTheAnnotationWhereFramesWereNotRecorded) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i)
    builder.annotation("save_checkpoint", 10'000 * kUs * i + 1, 3990 * kUs);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("in save_checkpoint (state is saved)"), std::string::npos)
      << findings[0].title;
}

TEST(HostWorkBetweenLaunches, ClaimsTimeInNoAnnotation) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100 * kUs);
  builder.op("aten::mm", 900 * kUs, 100 * kUs);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(800 * kUs));
}

TEST(HostWorkBetweenLaunches, AbstainsWhereOnlyAnnotationsWereRecorded) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000 * kUs);
  builder.step(1, 10'000 * kUs, 10'000 * kUs);
  EXPECT_NE(JudgedTrace(builder).abstains(host_work_between_launches()), "");
}

/// Three forward passes on the host, each of 6 ms, and 4 ms in which the result is dropped: what
/// allocators gave back `count` times, and took where `bytes` is positive.
std::vector<Finding> dropped(int count, std::int64_t bytes, bool training, std::int64_t until) {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 10'000 * kUs * i;
    builder.op("aten::conv2d", at, 6000 * kUs);
    if (training)
      builder.op("autograd::engine::evaluate_function: AddBackward0", at + 5990 * kUs, 5 * kUs);
    for (int event = 0; event < count; ++event)
      builder.memory(at + 6020 * kUs + event * (until - 20) * kUs / count, bytes);
  }
  builder.op("aten::conv2d", 30'000 * kUs, 100 * kUs);
  return JudgedTrace(builder).findings(host_work_between_launches());
}

TEST(HostWorkBetweenLaunches, TellsThatMemoryIsFreed) {
  const std::vector<Finding> findings = dropped(81, -1'332'000, false, 3900);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].title.starts_with("Memory is freed between operators: 12.00 ms"))
      << findings[0].title;
  EXPECT_EQ(findings[0].key, "freeing");
  EXPECT_NE(findings[0].evidence[0].text.find("in 243 tensors are given back"), std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_NE(findings[0].fix.after.find("inference_mode"), std::string::npos);
  EXPECT_EQ(findings[0].fix.after.find("prepare"), std::string::npos);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 12'000 * kUs);
  const std::vector<Finding> training = dropped(81, -1'332'000, true, 3900);
  ASSERT_EQ(training.size(), 1U);
  EXPECT_EQ(training[0].fix.after.find("inference_mode"), std::string::npos);
  EXPECT_NE(training[0].fix.text.find("out="), std::string::npos);
}

TEST(HostWorkBetweenLaunches, TakesForFreeingOnlyWhatFillsTheGap) {
  const auto title = [](const std::vector<Finding>& findings) {
    return findings.size() == 1 ? findings[0].title : std::string();
  };
  constexpr std::string_view kPython = "Python runs between operators";
  EXPECT_TRUE(title(dropped(81, 4096, false, 3900)).starts_with(kPython)) << "taken";
  EXPECT_TRUE(title(dropped(81, -4096, false, 2000)).starts_with(kPython)) << "half of the gap";
  EXPECT_TRUE(title(dropped(2, -4096, false, 3900)).starts_with(kPython)) << "little";
  EXPECT_TRUE(title(dropped(81, INT64_MIN, false, 3900)).starts_with("Memory is freed"));
}

TEST(HostWorkBetweenLaunches, SaysThatFreeingLooksTheSameWhereMemoryWasNotRecorded) {
  TraceBuilder builder;
  steps(builder, 4000);
  const auto findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].counter_evidence.find("freeing of large tensors"), std::string::npos);
}

TEST(HostWorkBetweenLaunches, IsNothingInShortGaps) {
  TraceBuilder builder;
  steps(builder, 150);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(host_work_between_launches()).empty());
  EXPECT_EQ(judged.abstains(host_work_between_launches()), "");
}

TEST(HostWorkBetweenLaunches, CountsTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000 * kUs);
  builder.op("aten::mm", 6000 * kUs, 4000 * kUs);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 6000 * kUs);
  ASSERT_EQ(findings[0].edits.scale.size(), 1U);
  EXPECT_NEAR(findings[0].edits.scale[0].second, 0, 1e-6);
}

TEST(HostWorkBetweenLaunches, IsNotWaitingForACollective) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000 * kUs);
  builder.op("aten::mm", 6000 * kUs, 4000 * kUs);
  builder.on_thread(2).annotation("gloo:all_reduce", 100, 5900 * kUs);
  EXPECT_TRUE(JudgedTrace(builder).findings(host_work_between_launches()).empty());
}

TEST(HostWorkBetweenLaunches, IsNotCompilation) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i) {
    builder.frame("torch/_dynamo/convert_frame.py(812): _compile", 10'000 * kUs * i + 1,
                  3990 * kUs);
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(host_work_between_launches()).empty());
}

TEST(HostWorkBetweenLaunches, AbstainsWithoutHostEvents) {
  TraceBuilder builder;
  builder.kernel("gemm", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(host_work_between_launches()), "");
}

TEST(HostWorkBetweenLaunches, SumsExactlyWhatEachFunctionTakes) {
  TraceBuilder builder;
  steps(builder, 4000);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 10'000 * kUs * i;
    builder.frame("train.py(5): main", at + 1, 9990 * kUs);
    builder.frame("train.py(20): rescale", at + 100 * kUs, 610 * kUs);
    // Many short calls, which moments would hit by chance.
    for (int call = 0; call < 20; ++call) {
      const std::int64_t begin = at + (800 + 150 * call) * kUs;
      builder.frame("train.py(30): normalize", begin, 130 * kUs);
      builder.frame("vectors/core.py(9): subtract", begin + 10 * kUs, 100 * kUs);
    }
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_work_between_launches());
  const auto found = [&](std::string_view key) -> const Finding& {
    const auto at = std::ranges::find_if(
        findings, [&](const Finding& finding) { return finding.key.find(key) == 0; });
    EXPECT_NE(at, findings.end()) << key;
    return *at;
  };
  EXPECT_EQ(to_ns(total(found("train.py:20").claims)), kUs * 3 * 610);
  const Finding& normalize = found("vectors/core.py:9");
  EXPECT_EQ(to_ns(total(normalize.claims)), kUs * 3 * 20 * 100);
  EXPECT_EQ(to_ns(total(found("train.py:30").claims)), kUs * 3 * 20 * 30);
  EXPECT_NE(found("train.py:30").evidence[0].text.find("normalize and what it calls take 2.600 ms"),
            std::string::npos)
      << found("train.py:30").evidence[0].text;
}

TEST(HostWorkBetweenLaunches, AbstainsWhereOnlyCallsOfTheRuntimeWereRecorded) {
  TraceBuilder builder;
  builder.runtime("cudaGetDevice", 0, 10);
  builder.runtime("cudaGetDevice", 10'000'000, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(host_work_between_launches()), "");
}

TEST(HostWorkBetweenLaunches, IsGivenToALoaderOnlyWhereABatchIsMade) {
  const auto loader = [](const std::vector<Finding>& findings) {
    return (findings.at(0).fix.text + findings.at(0).fix.after).find("loader") !=
               std::string::npos ||
           findings.at(0).fix.after.find("DataLoader") != std::string::npos;
  };
  TraceBuilder training;
  steps(training, 4000);
  for (std::int64_t i = 0; i < 3; ++i)
    training.annotation("Optimizer.step#SGD.step", (10'000 * i + 9'900) * kUs, 50 * kUs);
  EXPECT_TRUE(loader(JudgedTrace(training).findings(host_work_between_launches())));

  TraceBuilder inference;
  steps(inference, 4000);
  EXPECT_FALSE(loader(JudgedTrace(inference).findings(host_work_between_launches())));

  TraceBuilder optimizing;
  steps(optimizing, 4000);
  for (std::int64_t i = 0; i < 3; ++i)
    optimizing.annotation("Optimizer.step#SGD.step", (10'000 * i + 1) * kUs, 4'100 * kUs);
  EXPECT_FALSE(loader(JudgedTrace(optimizing).findings(host_work_between_launches())));
}

TEST(HostWorkBetweenLaunches, TellsThatTheWorkersOfALoaderStart) {
  constexpr std::int64_t kMs = 1'000'000;
  const auto fix = [](std::string_view before, std::string_view fetch) {
    TraceBuilder builder;
    builder.op(before, 0, 1000);
    builder.op("aten::randperm", 50 * kMs, 1000);
    builder.annotation(fetch, 51 * kMs, 10 * kMs);
    builder.op("aten::mm", 62 * kMs, 30 * kMs);
    const auto findings = JudgedTrace(builder).findings(host_work_between_launches());
    return findings.empty() ? std::string("none") : findings[0].fix.after;
  };
  constexpr std::string_view kWorkers =
      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  EXPECT_NE(fix("aten::item", kWorkers).find("persistent_workers"), std::string::npos);
  EXPECT_EQ(fix("aten::mm", kWorkers).find("persistent_workers"), std::string::npos);
  EXPECT_EQ(fix("aten::item", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
                .find("persistent_workers"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
