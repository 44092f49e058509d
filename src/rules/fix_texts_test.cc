// Which words the fix of each rule has where they apply, and which not where they do not.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rules/common/machine_builder.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

constexpr std::string_view kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
constexpr DeviceSpec kPeaks{.name = "round numbers",
                            .fp32 = 1e12,
                            .fp32_matrix = 1e12,
                            .bandwidth = 1e9,
                            .pcie_bandwidth = 1e9};

std::string words_of(const Fix& fix) { return fix.text + "\n" + fix.before + "\n" + fix.after; }

/// Of the first finding; "" where there is none.
std::string fix_by(std::string_view rule, const JudgedTrace& judged) {
  const std::vector<Finding> findings = judged.findings(*find_rule(rule));
  return findings.empty() ? std::string() : words_of(findings.front().fix);
}

/// The host waits for the device in this operator.
std::string waits_in(std::string_view op) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::mm", 10, "gemm", 400, 1);
  builder.op(op, 40, 400);
  builder.runtime("cudaStreamSynchronize", 50, 380, 2);
  add_launch(builder, "aten::add", 710, "add", 270, 3);
  return fix_by("sync-points", JudgedTrace(builder));
}

/// The device waits for fetches, which read.
std::string reads() {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kLoader, 1, 500);
  builder.frame("<built-in method read of _io.BufferedReader object at 0x7f>", 20, 450);
  add_launch(builder, "aten::mm", 505, "gemm", 480, 1);
  return fix_by("data-loading", JudgedTrace(builder));
}

/// The device waits for fetches that nothing else is known of.
std::string transforms() {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kLoader, 1, 500);
  add_launch(builder, "aten::mm", 505, "gemm", 480, 1);
  return fix_by("data-loading", JudgedTrace(builder));
}

std::string waits_for_a_disk() {
  constexpr std::int64_t kStep = 1'000'000;
  TraceBuilder builder;
  builder.step(0, 0, kStep);
  builder.annotation(kLoader, 1, kStep / 2);
  add_launch(builder, "aten::mm", kStep / 2 + 10, "gemm", kStep / 2 - 100, 1);
  MachineBuilder machine(builder, kStep);
  machine.rate("pressure.io.some", 0.6).rate("cpu.busy", 0.2).level("cpu.count", 2);
  machine.rate("disk.sda.busy", 0.6).rate("disk.sda.read", 1e8);
  return fix_by("io-bound-loader", JudgedTrace(builder));
}

/// One product takes most of the step, near its roof.
std::string one_product() {
  ProgramBuilder program(200'000);
  program.op("aten::mm", "sgemm", 150'000)
      .shapes("[[100,100],[100,100]]")
      .types(R"(["float","float"])");
  return fix_by("model-cost", JudgedTrace(program.trace(), &kPeaks));
}

/// Products that fill half of the device and a fifth of the step.
std::string small_products(bool training) {
  Device device;
  device.sms = 10;
  TraceBuilder builder;
  builder.device(device);
  builder.step(0, 0, 10'000);
  if (training) builder.op("autograd::engine::evaluate_function: MmBackward0", 9950, 10);
  for (std::int64_t i = 0; i < 4; ++i) {
    builder.op("aten::mm", 100 + 2400 * i, 40);
    builder.runtime("cudaLaunchKernel", 125 + 2400 * i, 5, i + 1);
    builder.kernel("ampere_sgemm_128x64_tn", 140 + 2400 * i, 500, i + 1)
        .grid(5, 1, 1)
        .block(128, 1, 1);
  }
  return fix_by("small-batch", JudgedTrace(builder));
}

/// Twelve small all-reduces with nothing between them.
std::string small_sums() {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.on_stream(7).kernel("ampere_sgemm_128x64_tn", 10, 490, 1);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("nccl:all_reduce", 10 + 30 * i, 10).shapes("[[64,4]]").types(R"(["float"])");
    builder.runtime("cudaLaunchKernel", 12 + 30 * i, 1, 100 + i);
    builder.on_stream(20).kernel(kReduce, 500 + 100 * i, 50, 100 + i);
  }
  return fix_by("small-collectives", JudgedTrace(builder));
}

/// The device only communicates, in a program of DistributedDataParallel or in one of nothing.
std::string exposed_sum(bool ddp) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(ddp ? "DistributedDataParallel.forward" : "forward", 0, 100);
  builder.annotation("nccl:all_reduce", 20, 10);
  builder.annotation("Optimizer.step#SGD.step", 110, 10);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.on_stream(20).kernel(kReduce, 10, 900, 1);
  return fix_by("exposed-communication", JudgedTrace(builder));
}

struct Case {
  std::string_view name;
  std::function<std::string()> fix;
  std::vector<std::string_view> has;
  std::vector<std::string_view> has_not = {};
};

std::function<std::string()> in(std::string_view op) {
  return [op] { return waits_in(op); };
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"boolean mask", in("aten::index"), {"how large", "torch.where", "masked-out"}},
      {"assignment by a mask", in("aten::index_put_"), {"how large", "torch.where"}},
      {"masked_select", in("aten::masked_select"), {"how large", "torch.where"}},
      {"nonzero", in("aten::nonzero"), {"how large", "torch.nonzero_static", "pads or cuts"}},
      {"repeat_interleave", in("aten::repeat_interleave"), {"how large", "output_size="}},
      {"bincount", in("aten::bincount"), {"how large", "scatter_add_"}},
      {"unique", in("aten::_unique2"), {"how large", "once for many batches"}, {"torch.where"}},
      {"item", in("aten::item"), {"every N steps", "non_blocking=True"}, {"how large"}},
      {"branch", in("aten::is_nonzero"), {"branches by a value", "torch.where"}, {"how large"}},
      {"equal", in("aten::equal"), {"branches by a value", "torch.where"}},
      {"cpu", in("aten::_to_copy"), {"pinned memory", "non_blocking=True"}, {"how large"}},
      {"waits inside", in("aten::_coalesce"), {"waits inside"}, {"torch.cuda.synchronize"}},
      {"reading", reads, {"RAM disk (/dev/shm)", "HDF5", "each worker opens its own file"}},
      {"transforms", transforms, {"transforms"}, {"RAM disk", "HDF5"}},
      {"disk", waits_for_a_disk, {"RAM disk", "/dev/shm", "HDF5", "empty after a restart"}},
      {"one product", one_product, {"quantisation", "pruning", "2:4", "can change results"}},
      {"batch of training",
       [] { return small_products(true); },
       {"learning rate", "linearly for SGD", "square root for Adam"}},
      {"batch of inference", [] { return small_products(false); }, {"batch"}, {"learning rate"}},
      {"small sums", small_sums, {"bucket_cap_mb", "gradient_as_bucket_view"}},
      {"DDP", [] { return exposed_sum(true); }, {"bucket_cap_mb", "no_sync()"}},
      {"no DDP", [] { return exposed_sum(false); }, {"async_op=True"}, {"bucket_cap_mb"}},
  };
  return kCases;
}

TEST(FixTexts, HaveTheWordsOfTheirCase) {
  for (const Case& each : cases()) {
    const std::string fix = each.fix();
    EXPECT_NE(fix, "") << each.name << ": no finding";
    for (const std::string_view word : each.has)
      EXPECT_NE(fix.find(word), std::string::npos) << each.name << ", " << word << ": " << fix;
    for (const std::string_view word : each.has_not)
      EXPECT_EQ(fix.find(word), std::string::npos) << each.name << ", " << word << ": " << fix;
  }
}

}  // namespace
}  // namespace fathom
