// Allocator bytes over stretches of time.
#include "analysis/operators/operator_memory.h"

#include <random>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

MemoryBytes during(const OperatorMemory& memory, std::int64_t start, std::int64_t end,
                   std::size_t hint = 0) {
  return memory.sum(memory.during(time_ns(start), time_ns(end), hint));
}

TEST(OperatorMemory, BothEndsBelongToTheStretch) {
  TraceBuilder builder;
  builder.memory(20, 4).memory(10, 1).memory(30, 16).memory(15, 2);
  const Trace trace = builder.build();
  const OperatorMemory memory(trace);
  EXPECT_EQ(during(memory, 10, 20), (MemoryBytes{7, 0}));
  EXPECT_EQ(during(memory, 11, 19), (MemoryBytes{2, 0}));
  EXPECT_EQ(during(memory, 31, 99), (MemoryBytes{0, 0}));
}

TEST(OperatorMemory, HostAndDeviceAreToldApartByDeviceType) {
  TraceBuilder builder;
  builder.memory(1, 10, 0).memory(2, 100, 1, 0).memory(3, -50, 1, 0).memory(4, 7, 13);
  const Trace trace = builder.build();
  const OperatorMemory memory(trace);
  EXPECT_EQ(during(memory, 0, 9), (MemoryBytes{10, 50}));
}

TEST(OperatorMemory, AnyHintGivesTheSameAnswer) {
  std::mt19937 random(5);
  TraceBuilder builder;
  for (int i = 0; i < 300; ++i) builder.memory(random() % 500, random() % 100);
  const Trace trace = builder.build();
  const OperatorMemory memory(trace);
  for (int i = 0; i < 500; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 500);
    const std::int64_t end = start + static_cast<std::int64_t>(random() % 100);
    std::int64_t expected = 0;
    for (std::size_t row = 0; row < trace.memory.size(); ++row) {
      const std::int64_t at = to_ns(trace.memory.time[row]);
      if (start <= at && at <= end) expected += trace.memory.bytes[row];
    }
    ASSERT_EQ(during(memory, start, end, random() % 301).host, expected);
  }
}

}  // namespace
}  // namespace fathom
