// The list of sources: their order, and what is lost where one cannot be opened.
#include "monitor/source.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

Opened refuse(Surroundings& /*surroundings*/, Series& /*series*/) {
  return {.source = nullptr,
          .missing = {{.what = "the whole", .why = "", .remedy = "", .whole_source = true},
                      {.what = "one counter", .why = "", .remedy = ""},
                      {.what = "some", .why = "", .remedy = "", .lost = "a.b, a.c"}}};
}

SourceSpec spec(std::string_view name, std::string_view after = {}) {
  return {.name = name,
          .title = name,
          .lost = "a.*",
          .lane = Lane::host,
          .open = refuse,
          .counters = {},
          .after = after};
}

std::vector<std::string_view> names(const std::vector<SourceSpec>& sources) {
  std::vector<std::string_view> names;
  for (const SourceSpec* const source : in_order(Lane::host, sources))
    names.push_back(source->name);
  return names;
}

class NoSink : public SampleSink {
 public:
  std::uint32_t counter(std::int32_t, std::int32_t, std::string_view, std::string_view) override {
    return 0;
  }
  void sample(std::int64_t, std::uint32_t, double) override {}
  void lose(std::int64_t, std::string_view) override {}
};

TEST(Sources, OneThatUsesAnotherIsAskedAfterItWhereverItStands) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(names({spec("cpu", "processes"), spec("memory"), spec("processes")}),
            (Names{"memory", "processes", "cpu"}));
  EXPECT_EQ(names({spec("processes"), spec("memory"), spec("cpu", "processes")}),
            (Names{"processes", "cpu", "memory"}));
  EXPECT_EQ(names({spec("cpu", "nothing"), spec("memory")}), (Names{"memory", "cpu"}));
}

TEST(Sources, WhatIsLostIsThatOfTheSpecOrTheCounterItself) {
  NoSink sink;
  Series series(sink);
  ProcessTree tree({}, {.root = 1, .launcher = 0, .session = {}});
  Surroundings surroundings{.roots = {}, .tree = tree, .nvml_path = {}};
  const Opened opened = open_source(spec("a"), surroundings, series);
  ASSERT_EQ(opened.missing.size(), 3U);
  EXPECT_EQ(opened.missing[0].lost, "a.*");
  EXPECT_EQ(opened.missing[1].lost, "one counter");
  EXPECT_EQ(opened.missing[2].lost, "a.b, a.c");
}

TEST(Sources, EachSaysWhatIsLostWithoutItAndNamesItsCountersOnce) {
  std::set<std::string_view> counters;
  for (const SourceSpec& source : all_sources()) {
    EXPECT_FALSE(source.lost.empty()) << source.name;
    for (const CounterSpec& counter : source.counters)
      EXPECT_TRUE(counters.insert(counter.name).second) << counter.name;
    const bool known =
        source.after.empty() || std::ranges::any_of(all_sources(), [&](const SourceSpec& other) {
          return other.name == source.after && other.lane == source.lane;
        });
    EXPECT_TRUE(known) << source.name;
  }
  EXPECT_EQ(all_counters().size(), counters.size() + 2);
}

}  // namespace
}  // namespace fathom::monitor
