#include "base/out_of_memory.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20;
constexpr MemoryUse kUse{
    .address_space = 400 * kMega, .data = 300 * kMega, .resident = 100 * kMega};

TEST(MemoryUse, GrowsWithWhatIsTouched) {
  const MemoryUse before = memory_use();
  EXPECT_GT(before.resident, 0U);
  EXPECT_GE(before.address_space, before.resident);
  const std::string touched(64 * kMega, 'x');
  const MemoryUse after = memory_use();
  EXPECT_GE(after.resident + kMega, before.resident + touched.size());
  EXPECT_GE(after.address_space + kMega, before.address_space + touched.size());
  EXPECT_GE(after.data + kMega, before.data + touched.size());
}

TEST(MemoryLimits, KnowAtLeastTheMachines) {
  EXPECT_LT(memory_limits().machine, MemoryLimits::kNone);
}

TEST(MemoryLimits, NameTheOneThatTheRequestMet) {
  MemoryLimits limits{.machine = 1000 * kMega};
  EXPECT_EQ(limit_text(kUse, kMega, limits),
            "100 MiB of memory in use, the limit is 1000 MiB (the machine's memory); use a machine "
            "with more, or record fewer steps");
  limits.control_group = 200 * kMega;
  EXPECT_EQ(
      limit_text(kUse, kMega, limits),
      "100 MiB of memory in use, the limit is 200 MiB (memory.max of the control group); give "
      "the container more, or record fewer steps");
  limits.data = 310 * kMega;
  EXPECT_EQ(limit_text(kUse, kMega, limits),
            "300 MiB of data in use, the limit is 310 MiB (ulimit -d); raise it, or use fewer "
            "threads (--threads 1)");
  limits.address_space = 404 * kMega;
  EXPECT_EQ(limit_text(kUse, kMega, limits),
            "400 MiB of address space in use, the limit is 404 MiB (ulimit -v); raise it, or use "
            "fewer threads (--threads 1)");
}

TEST(MemoryLimits, AFarOneIsNotBlamed) {
  const MemoryLimits limits{.address_space = 4000 * kMega, .machine = 1000 * kMega};
  EXPECT_NE(limit_text(kUse, kMega, limits).find("the machine's"), std::string::npos);
  EXPECT_NE(limit_text(kUse, 3700 * kMega, limits).find("ulimit -v"), std::string::npos);
  EXPECT_NE(limit_text(kUse, MemoryLimits::kNone, limits).find("ulimit -v"), std::string::npos);
}

TEST(OutOfMemory, SaysWhatFailedDuringWhat) {
  const std::string text = out_of_memory_text(OutOfMemory(3 * kMega), "reading a.json");
  EXPECT_EQ(text.find("out of memory while reading a.json: a request for 3 MiB failed with "), 0U)
      << text;
  EXPECT_EQ(out_of_memory_text(std::bad_alloc(), "")
                .find("out of memory: a request for more failed with "),
            0U);
}

TEST(OutOfMemory, IsCaughtAsTheStandardOne) { EXPECT_THROW(throw OutOfMemory(1), std::bad_alloc); }

}  // namespace
}  // namespace fathom
