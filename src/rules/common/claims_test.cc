// What claims on host work hold, once where slices repeat or overlap.
#include "rules/common/claims.h"

#include <vector>

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

TEST(ClaimHostWork, WithoutADeviceTakesTheOwnTimeOfEachSliceInsideOnce) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  const SliceId outer = builder.op("aten::to", 100, 10'000);
  const SliceId inner = builder.op("aten::copy_", 200, 1'000);
  const SliceId other = builder.op("aten::add", 20'000, 500);
  const JudgedTrace judged(builder);
  std::vector<Claim> claims;
  claim_host_work(judged.rules(), std::vector<SliceId>{inner, outer, other, outer}, 0.5, claims);
  EXPECT_EQ(claims.size(), 3U);
  EXPECT_EQ(whole(claims), duration_ns(10'500));
  EXPECT_EQ(total(claims), duration_ns(5'250));
}

/// The device idles between two kernels while the main thread is in operators.
struct Idle {
  Idle() {
    builder.step(0, 0, 100'000);
    add_launch(builder, "aten::mm", 1'000, "gemm", 4'000, 1);
    outer = builder.op("aten::to", 10'000, 20'000);
    inner = builder.op("aten::copy_", 12'000, 5'000);
    beside = builder.on_thread(7).op("aten::add", 20'000, 20'000);
    builder.on_thread(1);
    add_launch(builder, "aten::mm", 60'000, "gemm", 4'000, 2);
  }
  TraceBuilder builder;
  SliceId outer;
  SliceId inner;
  SliceId beside;
};

TEST(ClaimHostWork, WithADeviceTakesTheIdleTimeBesideNestedSlicesOnce) {
  Idle idle;
  const JudgedTrace judged(idle.builder);
  const auto claimed = [&](const std::vector<SliceId>& slices) {
    std::vector<Claim> claims;
    claim_host_work(judged.rules(), slices, 1.0, claims,
                    {Bucket::dispatch, Bucket::python, Bucket::launch_latency});
    return total(claims);
  };
  EXPECT_EQ(claimed({idle.outer}), duration_ns(20'000));
  EXPECT_EQ(claimed({idle.inner, idle.outer, idle.outer}), duration_ns(20'000));
  EXPECT_EQ(claimed({idle.outer, idle.beside}), duration_ns(30'000));
  EXPECT_EQ(claimed({idle.beside, idle.inner}), duration_ns(25'000));
}

}  // namespace
}  // namespace fathom
