// What was kept of a trace's call forest and launches is what is computed, and what is damaged is
// not believed.
#include "engine/inputs/kept_structure.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "engine/session.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

Trace made() {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 4; ++step) {
    const std::int64_t at = step * 1000;
    builder.on_thread(1).step(step, at, 900);
    builder.op("aten::mm", at + 10, 100).sequence(step);
    builder.runtime("cudaLaunchKernel", at + 20, 10, 2 * step + 1);
    builder.kernel("gemm", at + 50, 200, 2 * step + 1);
    builder.on_thread(2).op("aten::add", at + 10, 100);
    builder.runtime("cudaLaunchKernel", at + 20, 10, 2 * step + 2);
    builder.kernel("add", at + 300, 20, 2 * step + 2);
  }
  builder.kernel("nobody's", 5000, 20, 99);
  return builder.build();
}

void expect_same(const Trace& trace, const Structure& a, const Nesting& nesting,
                 const Links& links) {
  EXPECT_TRUE(std::ranges::equal(a.nesting.parent.span(), nesting.parent.span()));
  ASSERT_EQ(a.nesting.work.size(), nesting.work.size());
  for (std::size_t i = 0; i < nesting.work.size(); ++i) {
    EXPECT_EQ(a.nesting.work[i].track, nesting.work[i].track);
    EXPECT_EQ(a.nesting.work[i].slices, nesting.work[i].slices);
  }
  EXPECT_EQ(a.nesting.frames.size(), nesting.frames.size());
  EXPECT_EQ(a.nesting.rest.size(), nesting.rest.size());
  EXPECT_EQ(a.nesting.overlaps, nesting.overlaps);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    EXPECT_EQ(a.links.launch[row], links.launch[row]);
    EXPECT_EQ(a.links.op[row], links.op[row]);
    EXPECT_EQ(a.links.attribution[row], links.attribution[row]);
    EXPECT_EQ(a.links.replay[row], links.replay[row]);
  }
  EXPECT_EQ(a.links.activities, links.activities);
  EXPECT_EQ(a.links.call_kinds, links.call_kinds);
  EXPECT_EQ(a.links.kernel_launches, links.kernel_launches);
  EXPECT_EQ(a.links.without_launch, links.without_launch);
  EXPECT_EQ(a.links.first_without_launch, links.first_without_launch);
}

TEST(KeptStructure, IsReadAsItWasComputed) {
  const Trace trace = made();
  const Nesting nesting = compute_nesting(trace);
  const Links links = compute_links(trace, nesting);
  ASSERT_EQ(links.without_launch, 1U);
  const std::optional<Structure> read = read_structure(write_structure(nesting, links), trace);
  ASSERT_TRUE(read);
  expect_same(trace, *read, nesting, links);
}

TEST(KeptStructure, IsOfItsTraceAlone) {
  const Trace trace = made();
  const Nesting nesting = compute_nesting(trace);
  const std::string content = write_structure(nesting, compute_links(trace, nesting));
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  EXPECT_FALSE(read_structure(content, builder.build()));
  EXPECT_FALSE(read_structure({}, trace));
  for (std::size_t length = 0; length < content.size(); ++length)
    EXPECT_FALSE(read_structure(std::string_view(content).substr(0, length), trace));
  EXPECT_FALSE(read_structure(content + "x", trace));
}

/// Every walk to the outside ends, and nothing leads out of the trace.
void walk(const Trace& trace, const Structure& structure) {
  for (const Nesting::Thread& thread : structure.nesting.work) {
    for (SliceId slice : thread.slices) {
      std::size_t steps = 0;
      for (; slice.valid(); slice = structure.nesting.parent[slice.row()])
        ASSERT_LE(++steps, trace.slices.size());
    }
  }
  for (const SliceId activity : structure.links.activities) {
    const SliceId launch = structure.links.launch[activity.row()];
    if (launch.valid()) {
      ASSERT_LT(launch.row(), trace.slices.size());
    }
  }
}

TEST(KeptStructure, WhatIsChangedLeadsNowhere) {
  const Trace trace = made();
  const Nesting nesting = compute_nesting(trace);
  const std::string whole = write_structure(nesting, compute_links(trace, nesting));
  std::mt19937 chosen(7);
  for (int round = 0; round < 5000; ++round) {
    std::string content = whole;
    for (int i = 0; i < 1 + round % 3; ++i)
      content[chosen() % content.size()] = static_cast<char>(chosen());
    if (const std::optional<Structure> read = read_structure(content, trace)) walk(trace, *read);
  }
}

/// A file of many slices, in a folder of its own.
class KeptSession : public testing::Test {
 public:
  KeptSession() {
    std::string pattern = (fs::temp_directory_path() / "fathom_structure_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("FATHOM_CACHE", (folder_ / "cache").c_str(), 1);
    setenv("FATHOM_CACHE_FROM", "1", 1);
    std::ofstream out(input(), std::ios::binary);
    out << R"({"traceEvents": [)";
    for (int i = 0; i < 210'000; ++i) {
      out << (i == 0 ? "" : ",\n") << R"({"ph":"X","cat":"cpu_op","name":")"
          << (i % 2 == 0 ? "outer" : "inner") << R"(","pid":1,"tid":1,"ts":)" << i / 2 * 10 + i % 2
          << R"(,"dur":)" << 8 - 5 * (i % 2) << "}";
    }
    out << "]}";
    out.close();
    while (!TraceCache(input()).keeps()) {  // until its times are old enough
    }
  }
  ~KeptSession() override {
    unsetenv("FATHOM_CACHE");
    unsetenv("FATHOM_CACHE_FROM");
    fs::remove_all(folder_);
  }
  KeptSession(const KeptSession&) = delete;
  KeptSession& operator=(const KeptSession&) = delete;

 protected:
  [[nodiscard]] std::string input() const { return (folder_ / "trace.json").string(); }
  [[nodiscard]] std::vector<fs::path> answers() const {
    std::vector<fs::path> found;
    for (const fs::directory_entry& each : fs::directory_iterator(folder_ / "cache")) {
      if (each.path().extension() == ".answer") found.push_back(each.path());
    }
    return found;
  }
  /// Parents of all slices; and whether they were computed.
  std::pair<std::vector<SliceId>, bool> open() const {
    const Result<std::unique_ptr<Session>> session = Session::open(input(), {});
    if (!session) return {};
    const Analyses& analyses = (**session).analyses();
    static_cast<void>(analyses.links());
    const std::span<const SliceId> parents = analyses.nesting().parent.span();
    return {{parents.begin(), parents.end()}, analyses.computed_structure()};
  }

  fs::path folder_;
};

TEST_F(KeptSession, FindsTheStructureTheNextTimeAndComputesItWhereItIsDamaged) {
  const auto [parents, computed] = open();
  ASSERT_EQ(parents.size(), 210'000U);
  EXPECT_TRUE(parents[1].valid());
  EXPECT_TRUE(computed);
  ASSERT_EQ(answers().size(), 1U);
  EXPECT_EQ(open(), std::pair(parents, false));
  {
    std::fstream file(answers().front(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100'000);
    file.put('x');
  }
  EXPECT_EQ(open(), std::pair(parents, true));
  EXPECT_EQ(open(), std::pair(parents, false)) << "kept anew";
}

}  // namespace
}  // namespace fathom
