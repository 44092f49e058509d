// A program under the counting malloc: its totals, and the counters in the capture file.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/programs/recorded.h"

namespace fathom::test {
namespace {

TEST(MemoryHooks, CountWhatIsAllocatedAndFreedOnAnyThread) {
  EXPECT_EQ(wait_for(start_program("memory_program", {}, {})), 0);
}

TEST(MemoryHooks, TheHeapIsACounterOfTheRecording) {
  const Folder folder;
  EXPECT_EQ(wait_for(start_program("memory_program", {}, {{"FATHOM_SESSION", folder.path()}})), 0);
  const Recorded recorded = read_folder(folder);
  double most = 0;
  for (const RecordedSample& sample : recorded.samples)
    if (sample.counter == "heap") most = std::max(most, sample.value);
  EXPECT_GE(most, 10e6);
  EXPECT_TRUE(std::ranges::any_of(recorded.samples, [](const RecordedSample& sample) {
    return sample.counter == "heap.allocations" && sample.unit == "count" && sample.value >= 1000;
  }));
}

}  // namespace
}  // namespace fathom::test
