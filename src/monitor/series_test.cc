#include "monitor/series.h"

#include <utility>

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

class Sink : public SampleSink {
 public:
  std::uint32_t counter(std::int32_t /*pid*/, std::int32_t /*device*/, std::string_view name,
                        std::string_view /*unit*/) override {
    names.emplace_back(name);
    return static_cast<std::uint32_t>(names.size() - 1);
  }
  void sample(std::int64_t time, std::uint32_t /*counter*/, double value) override {
    samples.emplace_back(time, value);
  }
  void lose(std::int64_t /*time*/, std::string_view /*what*/) override {}

  std::vector<std::string> names;
  std::vector<std::pair<std::int64_t, double>> samples;
};

constexpr CounterSpec kBusy = {"cpu.busy",         "seconds",    CounterKind::total,
                               CounterOf::machine, "/proc/stat", "in use"};
constexpr CounterSpec kSent = {"network.*.sent",   "bytes",         CounterKind::total,
                               CounterOf::machine, "/proc/net/dev", "sent"};

using Samples = std::vector<std::pair<std::int64_t, double>>;
constexpr std::int64_t kTick = 100'000'000;

TEST(Series, AppearWithTheirFirstValue) {
  Sink sink;
  Series series(sink);
  series.add(kBusy);
  const auto used = series.add(kSent, "eth0");
  series.put(0, used, 1);
  EXPECT_EQ(sink.names, std::vector<std::string>{"network.eth0.sent"});
}

TEST(Series, WriteTheLastOfEqualValuesBeforeAChange) {
  Sink sink;
  Series series(sink);
  const auto handle = series.add(kBusy);
  for (int tick = 0; tick < 5; ++tick) series.put(tick * kTick, handle, 7);
  series.put(5 * kTick, handle, 9);
  EXPECT_EQ(sink.samples, (Samples{{0, 7}, {4 * kTick, 7}, {5 * kTick, 9}}));
}

TEST(Series, RepeatAnUnchangedValueOnceASecond) {
  Sink sink;
  Series series(sink);
  const auto handle = series.add(kBusy);
  for (int tick = 0; tick <= 25; ++tick) series.put(tick * kTick, handle, 7);
  EXPECT_EQ(sink.samples, (Samples{{0, 7}, {10 * kTick, 7}, {20 * kTick, 7}}));
  series.finish_all();
  EXPECT_EQ(sink.samples.back(), (std::pair<std::int64_t, double>(25 * kTick, 7)));
}

}  // namespace
}  // namespace fathom::monitor
