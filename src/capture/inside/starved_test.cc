// The recorder in programs whose memory runs out, at each of its allocations in turn.
#include "tests/programs/starved.h"

#include <gtest/gtest.h>

namespace fathom::test {
namespace {

TEST(StarvedProgram, EndsAsItWouldAndItsFileSaysWhatItLacks) {
  expect_to_survive_starving("starved_sdk", {});
}

TEST(StarvedProgram, WithARingToo) {
  expect_to_survive_starving("starved_sdk", {{"FATHOM_OPTIONS", R"({"last_s": 100})"}});
}

TEST(StarvedProgram, WithARingThatTurnsToo) {
  expect_to_survive_starving("starved_sdk", {{"FATHOM_OPTIONS", R"({"last_s": 0.001})"}},
                             Expect::sound_files);
}

TEST(StarvedProgram, WithARangeToo) {
  expect_to_survive_starving("starved_sdk", {{"FATHOM_OPTIONS", R"({"range": "one of many"})"}});
}

TEST(StarvedProgram, WithTheCountingMallocToo) {
  expect_to_survive_starving("starved_memory", {}, Expect::sound_files);
}

TEST(StarvedProgram, WithProfilesOfPythonToo) {
  expect_to_survive_starving("starved_python", {}, Expect::no_files);
}

#ifdef FATHOM_TEST_NVTX
TEST(StarvedProgram, WithNvtxToo) {
  const std::string library = std::string(FATHOM_PROGRAMS) + "/libfathom_nvtx.so";
  expect_to_survive_starving("starved_nvtx", {{"NVTX_INJECTION64_PATH", library}});
}
#endif

}  // namespace
}  // namespace fathom::test
