// The recorder's parts on their own: clocks, texts, sums, settings, schedules.
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fathom/profile.h>
#include <gtest/gtest.h>

#include "base/crc32.h"
#include "capture/inside/clock_map.h"
#include "capture/inside/settings.h"
#include "capture/inside/text_table.h"

namespace fathom::inside {
namespace {

TEST(ClockMap, TimesBetweenTwoReadingsLieOnTheLine) {
  ClockMap map;
  map.add({1000, 5'000'000'000});
  map.add({3000, 5'000'001'000});
  EXPECT_EQ(map.monotonic(1000), 5'000'000'000);
  EXPECT_EQ(map.monotonic(2000), 5'000'000'500);
  EXPECT_EQ(map.monotonic(3000), 5'000'001'000);
}

TEST(ClockMap, TheOutermostStretchesGoOn) {
  ClockMap map;
  map.add({1000, 5'000'000'000});
  map.add({3000, 5'000'001'000});
  EXPECT_EQ(map.monotonic(800), 4'999'999'900);
  EXPECT_EQ(map.monotonic(5000), 5'000'002'000);
}

TEST(ClockMap, FollowsAClockThatIsSlewed) {
  ClockMap map;
  map.add({0, 1'000'000'000});
  map.add({1'000'000'000, 2'000'000'000});  // 1 ns a tick
  map.add({2'000'000'000, 2'500'000'000});  // then half
  EXPECT_EQ(map.monotonic(500'000'000), 1'500'000'000);
  EXPECT_EQ(map.monotonic(1'500'000'000), 2'250'000'000);
}

TEST(ClockMap, TheRealCounterAgreesWithTheSystemsClock) {
  if (!counter_is_steady()) GTEST_SKIP() << "no steady counter here";
  ClockMap map;
  map.add(read_clock_pair(false));
  std::vector<ClockPair> pairs;
  constexpr int kReadings = 1000;
  pairs.reserve(kReadings);
  for (int i = 0; i < kReadings; ++i) pairs.push_back(read_clock_pair(false));
  map.add(read_clock_pair(false));
  std::int64_t worst = 0;
  for (const ClockPair& pair : pairs)
    worst = std::max(worst, std::abs(map.monotonic(pair.ticks) - pair.monotonic));
  EXPECT_LT(worst, 20'000);  // a preempted reading on a busy machine
}

TEST(Texts, TheSameTextIsTheSamePointerInAllThreads) {
  const char* const here = permanent("the same");
  const char* there = nullptr;
  std::thread([&] { there = permanent(std::string("the ") + "same"); }).join();
  EXPECT_EQ(here, there);
  EXPECT_STREQ(here, "the same");
}

TEST(Texts, ABufferThatChangesIsReadAgain) {
  std::string buffer = "first";
  EXPECT_STREQ(permanent(buffer), "first");
  buffer = "other";
  EXPECT_STREQ(permanent(buffer), "other");
}

TEST(Texts, TooManyBecomeOne) {
  const char* last = "";
  for (int i = 0; i < 70'000; ++i) last = permanent("text " + std::to_string(i));
  EXPECT_EQ(std::string_view(last), kOtherText);
  EXPECT_STREQ(permanent("text 1"), "text 1");
}

/// By definition, bit by bit.
std::uint32_t slow_crc(std::string_view bytes) {
  std::uint32_t sum = UINT32_MAX;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~sum;
}

TEST(SdkCrc32, IsThatOfZlibAtAllLengths) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  std::string bytes;
  for (unsigned i = 0; i < 700; ++i) {
    EXPECT_EQ(crc32(bytes), slow_crc(bytes)) << i;
    bytes.push_back(static_cast<char>(i * 37 % 251));
  }
}

TEST(Settings, NumbersAreFoundInTheLaunchersJson) {
  const std::string_view json =
      R"({"range": "last_s", "steps": {"wait": 1}, "last_s" : 2.5, "from_start": false, "duration_s": null})";
  EXPECT_EQ(number_in(json, "last_s", 0), 2.5);
  EXPECT_EQ(number_in(json, "from_start", 1), 0);
  EXPECT_EQ(number_in(json, "duration_s", 7), 7);
  EXPECT_EQ(number_in(json, "missing", 3), 3);
  EXPECT_EQ(number_in("", "last_s", 4), 4);
}

TEST(Schedule, IsTorchsSchedule) {
  const schedule plan{.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1};
  std::string actions;
  for (int step = 0; step < 11; ++step)
    actions += "-wrs"[static_cast<std::size_t>(action_of(plan, step))];
  EXPECT_EQ(actions, "--wrs-wrs--");
}

TEST(Schedule, WithoutRepeatItGoesOn) {
  const schedule plan{.wait = 1, .active = 1};
  EXPECT_EQ(action_of(plan, 1'000'000), Action::none);
  EXPECT_EQ(action_of(plan, 1'000'001), Action::record_and_save);
}

TEST(Schedule, NonsenseIsMadeHarmless) {
  const schedule plan{.wait = -1, .warmup = -5, .active = 0, .repeat = -1, .skip_first = -3};
  EXPECT_EQ(action_of(plan, 0), Action::record_and_save);
}

}  // namespace
}  // namespace fathom::inside
