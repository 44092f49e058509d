#include "store/slice_appender.h"

#include <gtest/gtest.h>

#include "store/validate.h"

namespace fathom {
namespace {

TEST(SliceAppender, AddsASliceWithItsDetailAndCountsIt) {
  Trace trace;
  const StringId name = trace.strings.intern("gemm");
  trace.tracks.push_back({.kind = TrackKind::device_stream, .process = name, .thread = name});
  trace.categories.push_back({.name = name, .kind = SliceKind::kernel});
  trace.launch_configs.emplace_back();
  const SliceId id = SliceAppender(trace).add(
      {.track = TrackId(0), .start = time_ns(5), .duration = duration_ns(2), .name = name},
      Kernels::Row{.config = LaunchConfigId(0), .graph_node = 7});
  EXPECT_EQ(trace.tracks[0].slices, 1U);
  EXPECT_EQ(trace.categories[0].slices, 1U);
  EXPECT_EQ(trace.kernels.row(trace.slices.detail[id.row()]).graph_node, 7);
  EXPECT_EQ(broken_promise(trace), "");
}

TEST(SliceAppender, WhatIsNotSaidIsAbsent) {
  SliceTables tables;
  SliceAppender appender(tables);
  const Slices::Row slice = tables.slices.row(appender.add({.track = TrackId(0)}).row());
  EXPECT_EQ(slice.correlation, kAbsent);
  EXPECT_EQ(slice.external_id, kAbsent);
  EXPECT_EQ(slice.detail, SliceId::kNone);
  EXPECT_FALSE(slice.name.valid());
  const Ops::Row op = tables.ops.row(appender.add_detail(Ops::Row{}));
  EXPECT_FALSE(op.signature.valid());
  EXPECT_EQ(op.flops, kAbsent);
}

TEST(SliceAppender, RowsOfAKindAreNumberedFromZero) {
  SliceTables tables;
  SliceAppender appender(tables);
  EXPECT_EQ(appender.add_detail(Copies::Row{.bytes = 1}), 0U);
  EXPECT_EQ(appender.add_detail(Copies::Row{.bytes = 2}), 1U);
  EXPECT_EQ(appender.add_detail(Frames::Row{}), 0U);
  EXPECT_EQ(tables.details(SliceKind::memcpy), 2U);
  EXPECT_EQ(tables.details(SliceKind::python_function), 1U);
  EXPECT_EQ(tables.details(SliceKind::runtime), 0U);
}

}  // namespace
}  // namespace fathom
