#include "capture/launcher/recording.h"

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

TEST(Recording, ExtrasKeepTheirOrderAndCountOnce) {
  EXPECT_EQ(*parse_extras("stacks,shapes,stacks"), (std::vector<std::string>{"shapes", "stacks"}));
  EXPECT_TRUE(parse_extras("")->empty());
  EXPECT_EQ(*parse_extras("samples,memory"), (std::vector<std::string>{"memory", "samples"}));
  EXPECT_EQ(*parse_extras("samples=250,memory"),
            (std::vector<std::string>{"memory", "samples=250"}));
}

TEST(Recording, SamplesHaveARate) {
  EXPECT_EQ(sampling_of({}).hz, 100);
  EXPECT_FALSE(sampling_of({}).asked);
  const Recording asked{.with = *parse_extras("samples")};
  EXPECT_EQ(sampling_of(asked).hz, 100);
  EXPECT_TRUE(sampling_of(asked).asked);
  EXPECT_EQ(sampling_of({.with = *parse_extras("samples=12.5")}).hz, 12.5);
  EXPECT_EQ(sampling_of({.with = *parse_extras("samples=0")}).hz, 0);
  for (const char* const wrong : {"samples=", "samples=x", "samples=-1", "samples=1001"}) {
    const auto parsed = parse_extras(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_NE(parsed.error().message.find("samples=RATE"), std::string::npos);
  }
}

TEST(Recording, FunctionsOfCHoldThoseOfPython) {
  EXPECT_EQ(*parse_extras("functions=c"), (std::vector<std::string>{"functions", "functions=c"}));
  EXPECT_EQ(*parse_extras("functions"), (std::vector<std::string>{"functions"}));
}

TEST(Recording, CallsHaveALeastTime) {
  const std::vector<std::string> plain = *parse_extras("functions=calls");
  EXPECT_EQ(plain, (std::vector<std::string>{"functions", "functions=calls"}));
  EXPECT_EQ(least_call_of({.with = plain}), kLeastCall);
  const Recording own = {.with = *parse_extras("lines,functions=calls:20us,functions=c")};
  EXPECT_EQ(own.with, (std::vector<std::string>{"functions", "functions=c", "functions=calls:20us",
                                                "lines"}));
  EXPECT_EQ(least_call_of(own), std::chrono::microseconds(20));
  EXPECT_NE(to_json(own).find("\"least_call_ns\": 20000"), std::string::npos) << to_json(own);
  EXPECT_FALSE(least_call_of({.with = *parse_extras("functions")}));
  EXPECT_EQ(to_json(Recording{}).find("least_call_ns"), std::string::npos);
  for (const char* const wrong :
       {"functions=calls:", "functions=calls:x", "functions=calls:-1us"}) {
    const auto parsed = parse_extras(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_NE(parsed.error().message.find("functions=calls:TIME"), std::string::npos);
  }
  EXPECT_FALSE(parse_extras("functions=callsome"));
}

TEST(Recording, AnUnknownExtraIsRefusedWithThoseThereAre) {
  const auto parsed = parse_extras("shapes,colours");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("'colours'"), std::string::npos);
  EXPECT_NE(parsed.error().message.find("functions"), std::string::npos);
}

TEST(Recording, OfARunningProgramOnlyTorchIsAsked) {
  EXPECT_EQ(*parse_torch_extras("flops,shapes"), (std::vector<std::string>{"shapes", "flops"}));
  for (const std::string extra : {"gpu-metrics", "functions", "lines", "libraries"}) {
    const auto parsed = parse_torch_extras("shapes," + extra);
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().message.find("start it with fathom run --with " + extra),
              std::string::npos);
  }
  EXPECT_FALSE(parse_torch_extras("colours"));
}

TEST(Recording, AScheduleKeepsDefaultsForWhatIsNotNamed) {
  const auto schedule = parse_schedule("wait=2,active=5,repeat=0");
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->wait, 2);
  EXPECT_EQ(schedule->warmup, 1);
  EXPECT_EQ(schedule->active, 5);
  EXPECT_EQ(schedule->repeat, 0);
  EXPECT_EQ(schedule->skip_first, 0);
}

TEST(Recording, AScheduleThatMakesNoSenseIsRefused) {
  for (const char* text : {"active=0", "wait=-1", "pause=1", "wait", "wait=x", "wait=1x"})
    EXPECT_FALSE(parse_schedule(text)) << text;
}

TEST(Recording, SignalsHaveSeveralSpellings) {
  for (const char* text : {"SIGUSR2", "USR2", "usr2", "12"})
    EXPECT_EQ(*parse_signal(text), "SIGUSR2");
  for (const char* text : {"", "SIGNOPE", "0", "-3", "999"})
    EXPECT_FALSE(parse_signal(text)) << text;
}

TEST(Recording, TheProgramIsToldInOneLineOfJson) {
  Recording recording;
  recording.with = {"shapes"};
  recording.delay = duration_ns(1'500'000'000);
  recording.range = "a \"b\"\n";
  EXPECT_EQ(to_json(recording),
            R"({"with": ["shapes"], "steps": {"wait": 1, "warmup": 1, "active": 3, "repeat": 1, )"
            R"("skip_first": 0}, "step_by": "auto", "delay_s": 1.5, "duration_s": null, )"
            R"("range": "a \"b\"\n", "on_signal": null, "from_start": true, )"
            R"("max_memory_bytes": 268435456, "max_size_bytes": 4294967296, "last_s": null, )"
            R"("overhead": true})");
}

TEST(Recording, TellsHowOftenHardwareCountersAreSampledWhereTheyAre) {
  Recording recording;
  EXPECT_EQ(to_json(recording).find("gpu_metrics_hz"), std::string::npos);
  recording.with = {"gpu-metrics"};
  recording.gpu_metrics_hz = 250;
  EXPECT_NE(to_json(recording).find(R"("gpu_metrics_hz": 250)"), std::string::npos)
      << to_json(recording);
}

}  // namespace
}  // namespace fathom::capture
