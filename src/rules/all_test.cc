#include <array>
#include <string>

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

/// A training step of an accelerator whose calls are named `vendor`…: short kernels launched late,
/// small and large copies of pageable and pinned memory, waits, tensors made on the host, fills of
/// gradients and an optimizer that goes parameter by parameter.
JudgedTrace step_of(const std::string& vendor) {
  TraceBuilder builder;
  constexpr std::int64_t kUs = 1000;
  builder.step(0, 0, 4000 * kUs);
  std::int64_t at = 10 * kUs;
  std::int64_t id = 0;
  const auto launch = [&](std::string_view op, std::string_view kernel, std::int64_t time) {
    builder.op(op, at, 18 * kUs).shapes("[[63,65],[65,63]]").types(R"(["float","float"])");
    builder.runtime(vendor + "LaunchKernel", at + 10 * kUs, 5 * kUs, ++id);
    builder.kernel(kernel, at + 16 * kUs, time, id);
    at += 20 * kUs;
  };
  const auto copy = [&](std::int64_t bytes, MemoryKind host, std::int64_t time) {
    builder.op("aten::to", at, 12 * kUs);
    builder.op("aten::copy_", at + kUs, 10 * kUs);
    builder.runtime(vendor + "MemcpyAsync", at + 2 * kUs, 8 * kUs, ++id);
    builder.copy(CopyKind::h2d, at + 4 * kUs, time, id, bytes).memory(host, MemoryKind::device);
    at += 14 * kUs + time;
  };
  for (int i = 0; i < 40; ++i) launch("aten::mm", "sgemm", 4 * kUs);
  for (int i = 0; i < 20; ++i) copy(4, MemoryKind::pageable, kUs);
  copy(64 << 20, MemoryKind::pageable, 400 * kUs);
  copy(64 << 20, MemoryKind::pinned, 400 * kUs);
  builder.op("aten::randn", at, 100 * kUs);
  at += 100 * kUs;
  copy(1 << 20, MemoryKind::pageable, 100 * kUs);
  builder.runtime(vendor + "DeviceSynchronize", at, 200 * kUs);
  at += 200 * kUs;
  builder.runtime(vendor + "Malloc", at, 150 * kUs);
  at += 150 * kUs;
  launch("autograd::engine::evaluate_function: MmBackward0", "sgemm", 4 * kUs);
  for (int i = 0; i < 20; ++i) launch("aten::addcdiv_", "elementwise", 4 * kUs);
  return JudgedTrace(builder);
}

std::string text_of(const Finding& finding) {
  std::string text = finding.title + "\n" + finding.counter_evidence + "\n" + finding.fix.text +
                     "\n" + finding.fix.before + "\n" + finding.fix.after + "\n" +
                     finding.assumption;
  for (const Evidence& evidence : finding.evidence) text += "\n" + evidence.text;
  return text;
}

/// What findings about that step say that holds for CUDA alone, by rule; and how many there are.
struct Said {
  std::string cuda;
  std::size_t findings = 0;
};
Said said_to(const std::string& vendor) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"cuda", "CUDA", "nvidia", "NVIDIA", "Tensor Core", "TF32", "expandable_segments"});
  const JudgedTrace judged = step_of(vendor);
  Said said;
  for (const Rule& rule : all_rules()) {
    for (const Finding& finding : judged.findings(rule)) {
      ++said.findings;
      const std::string text = text_of(finding);
      for (const std::string_view word : kWords)
        if (text.find(word) != std::string::npos)
          said.cuda += std::string(rule.id) + ": " + std::string(word) + "; ";
    }
  }
  return said;
}

TEST(AllRules, SpeakNoCudaToOtherAccelerators) {
  for (const std::string vendor : {"mtia", "xpu", "hpu", "tpu"}) {
    const Said said = said_to(vendor);
    EXPECT_EQ(said.cuda, "") << vendor;
    EXPECT_GE(said.findings, 5U) << vendor;
  }
  EXPECT_NE(said_to("cuda").cuda, "") << "there is advice for CUDA alone";
}

}  // namespace
}  // namespace fathom
