// Of several devices: which one is diagnosed, and what another one's work means for it.
#include <gtest/gtest.h>

#include "analysis/roofline/device_specs.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "rules/common/program_builder.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Diagnosis diagnosis_of(TraceBuilder& builder, const DiagnosisRequest& request = {}) {
  const Session session(builder.build(), "two.json");
  Result<Diagnosis> diagnosis = diagnose(session, request);
  EXPECT_TRUE(diagnosis.ok()) << (diagnosis.ok() ? "" : diagnosis.error().message);
  return diagnosis.ok() ? std::move(*diagnosis) : Diagnosis();
}

/// A step of 10 µs of which device 0 computes for 8, and device 1 for so long.
TraceBuilder two_devices(std::int64_t busy) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.op("aten::mm", 10, 100);
  trace.runtime("cudaLaunchKernel", 20, 10, 1);
  trace.runtime("cudaLaunchKernel", 40, 10, 2);
  trace.on_stream(7, 0).kernel("gemm", 1000, 8000, 1);
  trace.on_stream(7, 1).kernel("gemm", 1000, busy, 2);
  return trace;
}

TEST(DiagnosedDevice, IsNoneThatHasNoShareInTheWork) {
  TraceBuilder stray = two_devices(400);  // 5 % of what the busiest is busy for
  const Diagnosis diagnosis = diagnosis_of(stray);
  EXPECT_EQ(diagnosis.device, 0);
  EXPECT_EQ(diagnosis.devices, 2U);
  EXPECT_EQ(diagnosis.usual_account[Bucket::compute], duration_ns(8000));
  TraceBuilder less = two_devices(790);
  EXPECT_EQ(diagnosis_of(less).device, 0);
}

TEST(DiagnosedDevice, IsOfThoseThatWorkTheOneThatIdlesMost) {
  TraceBuilder trace = two_devices(810);
  const Diagnosis diagnosis = diagnosis_of(trace);
  EXPECT_EQ(diagnosis.device, 1);
  EXPECT_EQ(diagnosis.usual_account[Bucket::compute], duration_ns(810));
}

TEST(DiagnosedDevice, IsTheOneThatWasAskedForHoweverLittleItDoes) {
  TraceBuilder stray = two_devices(400);
  EXPECT_EQ(diagnosis_of(stray, {.device = 1}).device, 1);
}

TEST(DiagnosedDevice, IsJudgedByTheStepsOfTheProcessThatUsesIt) {
  TraceBuilder trace;
  for (int process = 0; process < 2; ++process) {
    trace.on_thread(1, 100 + process).on_stream(7, process);
    for (int i = 0; i < 3; ++i) {
      const std::int64_t at = 10'000 * i + 100 * process;
      const int id = 10 * process + i + 1;
      trace.step(i, at, 9'900);
      trace.op("aten::mm", at + 10, 100);
      trace.runtime("cudaLaunchKernel", at + 20, 10, id);
      trace.kernel("gemm", at + 1000, process == 0 ? 8000 : 4000, id);
    }
  }
  const Diagnosis diagnosis = diagnosis_of(trace);
  EXPECT_EQ(diagnosis.device, 1);
  EXPECT_EQ(diagnosis.step_ns.count, 3U);
}

TEST(DiagnosedDevice, IsJudgedByOtherStepsWhereItsOwnProcessHasNone) {
  TraceBuilder trace;
  trace.on_thread(1, 100).step(1, 0, 10'000);
  trace.on_thread(1, 200).op("aten::mm", 10, 100);
  trace.runtime("cudaLaunchKernel", 20, 10, 1);
  trace.kernel("gemm", 1000, 1000, 1);
  EXPECT_EQ(diagnosis_of(trace).device, 0);
}

/// Device 0 computes for 2 µs, the host is in `call` from 0.5 to 8 µs, and launches the next kernel
/// onto device 0 after it; device 2 copies meanwhile.
Diagnosis beside_device_2(std::string_view call, MemoryKind source) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.op("aten::mm", 0, 300);
  trace.runtime("cudaLaunchKernel", 10, 10, 1);
  trace.on_stream(7, 0).kernel("gemm", 100, 2000, 1);
  trace.op("aten::copy_", 400, 7700);
  trace.runtime(call, 500, 7500, 2);
  trace.on_stream(7, 2)
      .copy(CopyKind::h2d, 600, 7300, 2, 1 << 20)
      .memory(source, MemoryKind::device);
  trace.op("aten::mm", 8100, 300);
  trace.runtime("cudaLaunchKernel", 8150, 10, 3);
  trace.on_stream(7, 0).kernel("gemm", 8200, 1800, 3);
  return diagnosis_of(trace, {.device = 0});
}

TEST(DiagnosedDevice, WaitsForACopyThatBlocksTheHostWhereverThatGoes) {
  const Diagnosis blocking = beside_device_2("cudaMemcpy", MemoryKind::pageable);
  EXPECT_EQ(blocking.usual_account[Bucket::sync], duration_ns(8000 - 2100));
  EXPECT_LT(blocking.usual_account[Bucket::dispatch], duration_ns(200));
  EXPECT_EQ(blocking.verdict.id, VerdictId::sync_bound) << blocking.verdict.sentence;
}

TEST(DiagnosedDevice, WaitsForTheHostWhereACopyToAnotherDeviceDoesNotBlock) {
  const Diagnosis pinned = beside_device_2("cudaMemcpyAsync", MemoryKind::pinned);
  EXPECT_EQ(pinned.usual_account[Bucket::sync], Duration{});
  EXPECT_GT(pinned.usual_account[Bucket::dispatch], duration_ns(5800));
}

/// Two products of 400 and 500 µs; of the first alone, or of both, the shapes are known.
std::optional<double> mfu_of(bool both) {
  constexpr DeviceSpec kPeaks{.name = "round numbers", .fp32 = 1e12, .bandwidth = 1e12};
  ProgramBuilder program(1'000'000);
  program.trace().device(a100());
  program.op("aten::mm", "ampere_sgemm_128x64_tn", 400'000)
      .shapes("[[64,64],[64,64]]")
      .types(R"(["float","float"])");
  if (both) {
    program.op("aten::mm", "ampere_sgemm_128x64_nn", 500'000)
        .shapes("[[64,64],[64,64]]")
        .types(R"(["float","float"])");
  } else {
    program.op("CompiledFunction", "ampere_sgemm_128x64_nn", 500'000);
  }
  return diagnosis_of(program.trace(), {.peaks = &kPeaks}).baseline.mfu_percent;
}

TEST(Baseline, HasNoShareOfThePeakWhereMostProductsHaveNoShapes) {
  EXPECT_TRUE(mfu_of(true).has_value());
  EXPECT_FALSE(mfu_of(false).has_value());
}

/// The place of the first finding of a rule among those that save time, from 1.
std::uint32_t place_of(const Diagnosis& diagnosis, std::string_view rule) {
  for (const RankedFinding& found : diagnosis.findings)
    if (found.finding.rule == rule) return found.number;
  ADD_FAILURE() << "no finding of " << rule;
  return 0;
}

TEST(Findings, OfTensorCoresStandBeforeATailWhereTf32IsNoFasterThan32Bits) {
  constexpr DeviceSpec kPeaks{.name = "no gain by TF32",
                              .fp32 = 1e12,
                              .tf32_matrix = 1e12,
                              .fp16_matrix = 2e12,
                              .bf16_matrix = 2e12,
                              .bandwidth = 1e12};
  ProgramBuilder program(1'000'000);
  program.trace().device(a100());
  program.op("aten::mm", "ampere_sgemm_128x64_tn", 600'000)
      .shapes("[[64,64],[64,64]]")
      .types(R"(["float","float"])");
  program.op("my_ops::scan", "scan_kernel(float*)", 300'000);
  // 108 multiprocessors hold 8 such blocks each: the second wave is hardly begun.
  program.kernel().config(
      {.grid = {900, 1, 1}, .block = {256, 1, 1}, .registers = 32, .shared_memory = 0});
  const Diagnosis diagnosis = diagnosis_of(program.trace(), {.peaks = &kPeaks});
  EXPECT_EQ(place_of(diagnosis, "tensor-cores-unused"), 1U);
  EXPECT_GT(place_of(diagnosis, "launch-shape"), 1U);
}

}  // namespace
}  // namespace fathom
