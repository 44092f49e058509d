// The library for CUDA in a program whose memory runs out, at each of its allocations in turn.
#ifdef FATHOM_TEST_STARVED
#include "tests/programs/starved.h"

#include <gtest/gtest.h>

#include "tests/cuda/injected.h"

namespace fathom::test {
namespace {

Environment injected(Environment more) {
  more.emplace("FATHOM_CUPTI", kFolder + "/libfake_cupti.so");
  more.emplace("CUDA_INJECTION64_PATH", kFolder + "/libfathom_cuda.so");
  return more;
}

TEST(StarvedCuda, EndsAsItWouldAndItsFileSaysWhatItLacks) {
  expect_to_survive_starving("starved_cuda", injected({}));
}

TEST(StarvedCuda, WhereKernelsAreTimedByEventsToo) {
  expect_to_survive_starving("starved_cuda", injected({{"CUPTI_FAKE_REFUSE", "1,2,10,22"}}));
}

TEST(StarvedCuda, WhereOnlyARangeOfTheProgramsIsRecordedToo) {
  expect_to_survive_starving("starved_cuda",
                             injected({{"FATHOM_OPTIONS", R"({"range": "cuda-profiler"})"}}));
}

#ifdef FATHOM_TEST_CUDA_PM
TEST(StarvedCuda, WithCountersOfTheHardwareToo) {
  expect_to_survive_starving(
      "starved_cuda",
      injected({{"FATHOM_OPTIONS", R"({"gpu_metrics_hz": 1000})"}, {"STARVED_METRICS", "1"}}),
      Expect::sound_files);
}
#endif

}  // namespace
}  // namespace fathom::test
#endif
