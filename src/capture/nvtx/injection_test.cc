// Programs with NVTX under the injection: what of their ranges and names is in the capture file.
#include <gtest/gtest.h>

#include "tests/programs/recorded.h"

namespace fathom::test {
namespace {

Recorded run(const std::string& what) {
  const Folder folder;
  const std::string library = std::string(FATHOM_PROGRAMS) + "/libfathom_nvtx.so";
  const int pid =
      start_program("nvtx_program", {what},
                    {{"FATHOM_SESSION", folder.path()}, {"NVTX_INJECTION64_PATH", library}});
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_EQ(folder.files().size(), 1U);
  return read_folder(folder);
}

TEST(NvtxInjection, RecordsPushedRangesAndMarksOfAllSpellings) {
  const Recorded recorded = run("ranges");
  for (const char* const name : {"outer", "first", "second", "wide \u00e9\u20ac"}) {
    ASSERT_EQ(recorded.named(name).size(), 1U) << name;
    EXPECT_EQ(recorded.named(name)[0].category, "annotation");
    EXPECT_TRUE(recorded.named(name)[0].arguments.empty());
  }
  const RecordedSlice outer = recorded.named("outer")[0];
  const RecordedSlice inner = recorded.named("second")[0];
  EXPECT_LE(outer.start, inner.start);
  EXPECT_GE(outer.end(), inner.end());
  ASSERT_EQ(recorded.instants.size(), 1U);
  EXPECT_EQ(recorded.instants[0].name, "mark");
}

TEST(NvtxInjection, RecordsStartedRangesOnceAndWhereverTheyEnd) {
  const Recorded recorded = run("ranges");
  ASSERT_EQ(recorded.named("started").size(), 1U);
  ASSERT_EQ(recorded.named("elsewhere").size(), 1U);
  EXPECT_EQ(recorded.named("started")[0].category, "range");
  EXPECT_NE(recorded.named("started")[0].tid, recorded.named("elsewhere")[0].tid);
  EXPECT_LE(recorded.named("started")[0].start, recorded.named("elsewhere")[0].start);
}

TEST(NvtxInjection, RangesHaveDomainsCategoriesColoursAndPayloads) {
  const Recorded recorded = run("attributed");
  using Arguments = std::map<std::string, std::string>;
  EXPECT_EQ(recorded.named("read").at(0).arguments,
            (Arguments{{"category", "io"}, {"color", "#ff00ff80"}, {"payload", "0.25"}}));
  const Arguments of_library{
      {"domain", "library"}, {"category", "kernels"}, {"color", "#ff00ff80"}, {"payload", "-5"}};
  EXPECT_EQ(recorded.named("registered").at(0).arguments, of_library);
  EXPECT_EQ(recorded.instants.at(0).arguments, of_library);
  EXPECT_EQ(recorded.named("started there").at(0).arguments,
            (Arguments{{"domain", "library"}, {"category", "9"}}));
}

TEST(NvtxInjection, RangesOfSeveralDomainsNeedNotNest) {
  const Recorded recorded = run("attributed");
  EXPECT_LE(recorded.named("read").at(0).end(), recorded.named("registered").at(0).end());
}

TEST(NvtxInjection, RecordsNamesOfThreadsAndResourcesAndWaitsForLocks) {
  const Recorded recorded = run("names");
  ASSERT_FALSE(recorded.threads.empty());
  EXPECT_EQ(recorded.threads.begin()->second, "main loop");
  EXPECT_EQ(recorded.facts.at("pointer.1234"), "arena");
  EXPECT_EQ(recorded.named("queue lock").size(), 1U);
  EXPECT_EQ(recorded.instants.at(0).name, "queue lock");
}

TEST(NvtxInjection, LosesNothingWhereTheProgramLeavesWithoutDestructors) {
  const Recorded recorded = run("leaves");
  for (const char* const name : {"outer", "first", "second", "started", "elsewhere"})
    EXPECT_EQ(recorded.named(name).size(), 1U) << name;
  EXPECT_EQ(recorded.instants.size(), 1U);
}

TEST(NvtxInjection, StaysOutWhereNothingIsBeingCaptured) {
  const std::string library = std::string(FATHOM_PROGRAMS) + "/libfathom_nvtx.so";
  const int pid =
      start_program("nvtx_program", {"attributed"}, {{"NVTX_INJECTION64_PATH", library}});
  // Without a tool push says that depths are not tracked.
  EXPECT_NE(wait_for(pid), 0);
}

}  // namespace
}  // namespace fathom::test
