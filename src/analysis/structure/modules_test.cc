// The module tree, what belongs to it, and its times.
#include "analysis/structure/modules.h"

#include <gtest/gtest.h>

#include "analysis/operators/module_times.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A step of a two-layer net: forward on thread 1, backward of the first layer on thread 2.
struct Net {
  Net() {
    builder.on_thread(1);
    builder.frame("train.py(1): main", 0, 1000);
    builder.frame("nn.Module: Net_0", 100, 400);
    builder.frame("net.py(5): forward", 105, 390);
    builder.frame("nn.Module: Linear_0", 110, 100);
    op = builder.op("aten::addmm", 120, 50).sequence(3);
    builder.runtime("cudaLaunchKernel", 130, 5, 1);
    builder.frame("nn.Module: Linear_1", 300, 80);
    between = builder.op("aten::relu", 250, 20);
    builder.runtime("cudaLaunchKernel", 255, 5, 2);
    outside = builder.op("aten::item", 600, 10);
    builder.on_thread(2);
    evaluate =
        builder.op("autograd::engine::evaluate_function: AddmmBackward0", 700, 100).sequence(3, 1);
    backward = builder.op("aten::mm", 720, 20);
    builder.runtime("cudaLaunchKernel", 725, 5, 3);
    builder.kernel("forward", 200, 10, 1);
    builder.kernel("relu", 300, 20, 2);
    builder.kernel("backward", 800, 40, 3);
    builder.kernel("lost", 900, 80, 9);
    trace = builder.build();
  }
  TraceBuilder builder;
  SliceId op;
  SliceId between;
  SliceId outside;
  SliceId evaluate;
  SliceId backward;
  Trace trace;
};

std::string module_of(const Net& net, SliceId slice) {
  const Modules modules = compute_modules(net.trace, compute_nesting(net.trace));
  return modules.path(net.trace, modules[slice]);
}

TEST(Modules, OperatorsBelongToTheInnermostModuleAroundThem) {
  const Net net;
  EXPECT_EQ(module_of(net, net.op), "Net_0/Linear_0");
  EXPECT_EQ(module_of(net, net.between), "Net_0");
  EXPECT_EQ(module_of(net, net.outside), "");
}

TEST(Modules, BackwardOperatorsBelongToTheModuleOfTheirForwardOperator) {
  const Net net;
  EXPECT_EQ(module_of(net, net.evaluate), "Net_0/Linear_0");
  EXPECT_EQ(module_of(net, net.backward), "Net_0/Linear_0");
}

TEST(Modules, WithoutModuleFramesThereIsOnlyTheTop) {
  TraceBuilder builder;
  builder.frame("train.py(1): main", 0, 1000);
  builder.op("aten::mm", 10, 5);
  const Trace trace = builder.build();
  EXPECT_EQ(compute_modules(trace, compute_nesting(trace)).nodes.size(), 1U);
}

std::vector<ModuleTimes> times_of(const Net& net) {
  const Analyses analyses(net.trace);
  return compute_module_times({net.trace, analyses, {}, {}});
}

constexpr std::size_t kNet = 1;
constexpr std::size_t kFirst = 2;

TEST(Modules, NestNoDeeperThanAThousand) {
  TraceBuilder builder;
  for (int i = 0; i < 3000; ++i) builder.frame("nn.Module: M_0", i, 10'000 - 2 * i);
  const Trace trace = builder.build();
  EXPECT_EQ(compute_modules(trace, compute_nesting(trace)).nodes.size(), 1001U);
}

/// Work behind a deep stack that has ended must not climb it again and again.
TEST(Modules, OfManyNestedFramesAndManyBesideThemAreFoundInTime) {
  constexpr int kFrames = 200'000;
  TraceBuilder builder;
  builder.frame("nn.Module: Outer_0", 0, 10 * kFrames);
  for (int i = 1; i < kFrames; ++i) builder.frame("nn.Module: Inner_0", i, 2 * (kFrames - i));
  SliceId last;
  for (int i = 0; i < kFrames; ++i) last = builder.op("aten::mm", 2 * kFrames + i, 1);
  for (int i = 0; i < kFrames; ++i)
    builder.frame("nn.Module: Beside_" + std::to_string(i), 4 * kFrames + 2 * i, 2);
  const SliceId inside = builder.op("aten::mm", 5 * kFrames, 1);
  const Trace trace = builder.build();
  const Modules modules = compute_modules(trace, compute_nesting(trace));
  EXPECT_EQ(modules.nodes.size(), 1U + 1000U + kFrames);
  EXPECT_EQ(modules.path(trace, modules[last]), "Outer_0");
  EXPECT_EQ(modules.path(trace, modules[inside]), "Outer_0/Beside_100000");
}

TEST(Modules, HostTimeIsThatOfTheFrames) {
  const std::vector<ModuleTimes> times = times_of(Net());
  ASSERT_EQ(times.size(), 4U);
  EXPECT_EQ(times[kNet].calls, 1);
  EXPECT_EQ(times[kNet].host_total, duration_ns(400));
  EXPECT_EQ(times[kNet].host_self, duration_ns(220));
  EXPECT_EQ(times[kFirst].host_total, duration_ns(100));
}

TEST(Modules, DeviceTimeGoesUpTheTreeAndIncludesBackward) {
  const std::vector<ModuleTimes> times = times_of(Net());
  EXPECT_EQ(times[kFirst].device_self, duration_ns(50));
  EXPECT_EQ(times[kFirst].backward_device, duration_ns(40));
  EXPECT_EQ(times[kFirst].backward_host, duration_ns(100));
  EXPECT_EQ(times[kNet].device_self, duration_ns(20));
  EXPECT_EQ(times[kNet].device_total, duration_ns(70));
  EXPECT_EQ(times[kNet].backward_host, duration_ns(100));
  EXPECT_EQ(times[Modules::kTop].device_self, duration_ns(80));
  EXPECT_EQ(times[Modules::kTop].device_total, duration_ns(150));
}

}  // namespace
}  // namespace fathom
