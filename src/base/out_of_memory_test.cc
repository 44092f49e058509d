#include "base/out_of_memory.h"

#include <array>
#include <span>
#include <thread>

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
  EXPECT_EQ(limit_text(met_limit(kUse, kMega, limits, 4)),
            "100 MiB of memory in use, the limit is 1000 MiB (the machine's memory); use a machine "
            "with more, or record fewer steps");
  limits.control_group = 200 * kMega;
  EXPECT_EQ(
      limit_text(met_limit(kUse, kMega, limits, 4)),
      "100 MiB of memory in use, the limit is 200 MiB (memory.max of the control group); give "
      "the container more, or record fewer steps");
  limits.data = 310 * kMega;
  EXPECT_EQ(limit_text(met_limit(kUse, kMega, limits, 4)),
            "300 MiB of data in use, the limit is 310 MiB (ulimit -d); raise it, or use fewer "
            "threads (--threads 1)");
  limits.address_space = 404 * kMega;
  EXPECT_EQ(limit_text(met_limit(kUse, kMega, limits, 4)),
            "400 MiB of address space in use, the limit is 404 MiB (ulimit -v); raise it, or use "
            "fewer threads (--threads 1)");
}

TEST(MemoryLimits, AFarOneIsNotBlamed) {
  const MemoryLimits limits{.address_space = 4000 * kMega, .machine = 1000 * kMega};
  EXPECT_NE(limit_text(met_limit(kUse, kMega, limits, 4)).find("the machine's"), std::string::npos);
  EXPECT_NE(limit_text(met_limit(kUse, 3700 * kMega, limits, 4)).find("ulimit -v"),
            std::string::npos);
  EXPECT_NE(limit_text(met_limit(kUse, MemoryLimits::kNone, limits, 4)).find("ulimit -v"),
            std::string::npos);
}

TEST(MemoryLimits, FewerThreadsThanOneAreNoRemedy) {
  const MemoryLimits limits{.address_space = 404 * kMega, .data = 310 * kMega};
  EXPECT_EQ(limit_text(met_limit(kUse, kMega, limits, 1)),
            "400 MiB of address space in use, the limit is 404 MiB (ulimit -v); raise it");
  EXPECT_EQ(met_limit(kUse, kMega, {.data = 310 * kMega}, 1).remedy, "raise it");
}

TEST(OutOfMemory, NeedsNoMemoryForItsText) {
  const OutOfMemory error(3 * kMega);
  std::array<char, 400> room{};
  const std::string_view text = out_of_memory_text_in(room, error);
  EXPECT_EQ(text.data(), room.data());
  EXPECT_EQ(text.find("out of memory: a request for 3 MiB failed with "), 0U) << text;
  EXPECT_NE(text.find(" in use, the limit is "), text.npos) << text;
  EXPECT_EQ(out_of_memory_text_in(std::span(room).first(10), error), "out of mem");
}

TEST(OutOfMemory, KnowsWhatThisThreadWasRefusedLast) {
  note_refused(7);
  EXPECT_EQ(last_refused(), 7U);
  std::thread([] { EXPECT_EQ(last_refused(), 0U); }).join();
  note_refused(0);
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
