// Laws that hold on every recording: nothing is lost, nothing is counted twice, and the counts that
// are pinned.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/context.h"
#include "analysis/operators/folded_stacks.h"
#include "analysis/operators/module_times.h"
#include "analysis/operators/op_table.h"
#include "formats/format.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class Laws : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    ASSERT_TRUE(read.ok()) << read.error().message;
    trace_ = std::move(*read);
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      if (is_device_activity(trace_.kind(SliceId(row)))) activities_ += trace_.slices.duration[row];
    }
  }

  Trace trace_;
  Duration activities_{};
};

TEST_P(Laws, DeviceTimeIsConservedByOperatorsModulesAndStacks) {
  const Analyses analyses(trace_);
  const Context context{trace_, analyses, {}, {}};
  for (const OpGrouping grouping : {OpGrouping::name, OpGrouping::shape, OpGrouping::stack,
                                    OpGrouping::phase, OpGrouping::module, OpGrouping::thread}) {
    const OpTable table = compute_op_table(context, grouping);
    Duration sum{};
    for (const OpRow& row : table.rows) {
      sum += row.device_self;
      EXPECT_LE(row.device_self, row.device_total) << row.name;
      EXPECT_LE(row.device_total, activities_) << row.name;
    }
    EXPECT_EQ(sum, activities_) << "grouping " << static_cast<int>(grouping);
  }
  Duration by_module{};
  for (const ModuleTimes& times : compute_module_times(context)) by_module += times.device_self;
  EXPECT_EQ(by_module, activities_);
  Duration by_stack{};
  for (const FoldedStack& stack : compute_folded_stacks(context, StackMetric::device))
    by_stack += stack.time;
  EXPECT_EQ(by_stack, activities_);
}

TEST_P(Laws, SelfTimesOfAForestSumToItsRoots) {
  const Nesting nesting = compute_nesting(trace_);
  const Column<Duration> self = self_times(trace_, nesting);
  for (const auto* threads : {&nesting.work, &nesting.frames, &nesting.rest}) {
    for (const Nesting::Thread& thread : *threads) {
      Duration selves{};
      Duration roots{};
      for (const SliceId slice : thread.slices) {
        selves += self[slice.row()];
        if (!nesting.parent[slice.row()].valid()) roots += trace_.slices.duration[slice.row()];
      }
      EXPECT_EQ(selves, roots);
    }
  }
}

TEST_P(Laws, ParentsContainTheirChildrenAndComeFirst) {
  const Nesting nesting = compute_nesting(trace_);
  for (const Nesting::Thread& thread : nesting.work) {
    std::vector<std::uint32_t> position(trace_.slices.size());
    for (std::size_t i = 0; i < thread.slices.size(); ++i) {
      position[thread.slices[i].row()] = static_cast<std::uint32_t>(i);
    }
    for (const SliceId slice : thread.slices) {
      const SliceId parent = nesting.parent[slice.row()];
      if (!parent.valid()) continue;
      EXPECT_LT(position[parent.row()], position[slice.row()]);
      EXPECT_LE(trace_.slices.start[parent.row()], trace_.slices.start[slice.row()]);
      EXPECT_LE(trace_.slices.end(slice), trace_.slices.end(parent));
    }
  }
}

TEST_P(Laws, EveryActivityHasOneAttribution) {
  const Links links = compute_links(trace_, compute_nesting(trace_));
  std::uint64_t without = 0;
  for (const SliceId activity : links.activities) {
    const Attribution attribution = links.attribution[activity.row()];
    EXPECT_NE(attribution, Attribution::none);
    const bool has_op =
        attribution == Attribution::by_launch || attribution == Attribution::by_external;
    EXPECT_EQ(links.op[activity.row()].valid(), has_op);
    if (!links.launch[activity.row()].valid()) ++without;
  }
  EXPECT_EQ(links.without_launch, without);
}

TEST(PinnedCounts, ActivitiesWithoutALaunchAreAsManyAsIsKnown) {
  // Otherwise conservation could be had by attributing nothing.
  static const std::map<std::string, std::uint64_t> kKnown = {
      {"resnet50_v100", 0},
      {"kineto_tb_resnet50_workers0_span1", 0},
      {"luatil_rtx3060_compile_triton", 164},
      {"tl_h100_qwen1.5_0.5b", 509},
      {"kineto_tb_resnet50_workers0_feb2021", 765},
      {"hta_negative_queue_length_rank0_of_16", 872},
  };
  for (const std::string& path : recordings()) {
    const std::string file = fs::path(path).filename().string();
    for (const auto& [name, count] : kKnown) {
      if (!file.starts_with(name)) continue;
      const Result<Trace> trace = read_trace(path, ReadOptions());
      ASSERT_TRUE(trace.ok()) << trace.error().message;
      EXPECT_EQ(compute_links(*trace, compute_nesting(*trace)).without_launch, count) << file;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, Laws, testing::ValuesIn(recordings()), name_of_recording);

}  // namespace
}  // namespace fathom
