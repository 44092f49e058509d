// Our record layouts and numbers of calls against what real libraries of CUPTI say: the table that
// tools/cupti_table.py writes.
#include "capture/cuda/layouts.h"

#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/cuda/cupti_names.h"
#include "capture/cuda/fallback.h"
#include "capture/cuda/watched_calls.h"

namespace fathom::cuda {
namespace {

struct Row {
  std::string what;
  std::uint32_t version = 0;
  std::vector<std::string> rest;
};

std::vector<Row> table() {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + "/src/capture/cuda/cupti_table.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Row row;
    words >> row.what >> row.version;
    for (std::string word; words >> word;) row.rest.push_back(word);
    rows.push_back(row);
  }
  return rows;
}

/// Records begin at multiples of eight bytes.
std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

TEST(RealLibraries, HaveRecordsAsLongAsOurLayouts) {
  std::size_t compared = 0;
  for (const Row& row : table()) {
    // Headers know no record that is newer than they are.
    if (row.what != "record" || row.version > CUPTI_API_VERSION) continue;
    const int kind = std::stoi(row.rest.at(0));
    const std::size_t ours = record_bytes(static_cast<CUpti_ActivityKind>(kind), row.version);
    if (ours == 0) continue;
    EXPECT_EQ(aligned(ours), std::stoul(row.rest.at(1)))
        << "kind " << kind << " of " << row.version;
    ++compared;
  }
  EXPECT_GE(compared, CUPTI_API_VERSION >= 130500 ? 300U : 100U);
}

/// Of libraries that do not start without a driver: what a machine knows that has none.
TEST(RealLibraries, HaveRecordsAsLongAsOurLayoutsByTheirHeadersToo) {
  std::set<std::uint32_t> versions;
  std::map<int, std::size_t> by_kind;
  std::size_t compared = 0;
  for (const Row& row : table()) {
    if (row.what != "header") continue;
    versions.insert(row.version);
    if (row.version > CUPTI_API_VERSION) continue;
    const int kind = std::stoi(row.rest.at(0));
    const std::size_t ours = record_bytes(static_cast<CUpti_ActivityKind>(kind), row.version);
    if (ours == 0) continue;
    ++by_kind[kind];
    EXPECT_EQ(aligned(ours), std::stoul(row.rest.at(1)))
        << "kind " << kind << " of " << row.version;
    ++compared;
  }
  EXPECT_GE(versions.size(), 6U);
  EXPECT_GE(compared, CUPTI_API_VERSION >= 130500 ? 126U : 0U);
  // Of green contexts, whose records have grown with 13.2 update 1 and 13.4.
  EXPECT_EQ(by_kind[59], CUPTI_API_VERSION >= 130500 ? versions.size() : 0U);
}

/// CUDA 11.8 says the version of 12.0: what it is known by is in it, and in no other.
TEST(RealLibraries, OfCuda11AreKnownByTheirSymbols) {
  std::vector<std::string> refused;
  for (const Row& row : table())
    if (row.what == "refused")
      refused.push_back(std::to_string(row.version) + ' ' + row.rest.at(0));
  EXPECT_EQ(refused, std::vector<std::string>{"18 libcupti.so.11.8"});
}

TEST(RealLibraries, HaveTheKindsThatWeAskFor) {
  std::map<std::uint32_t, std::set<int>> versions;
  for (const Row& row : table())
    if (row.what == "record") versions[row.version].insert(std::stoi(row.rest.at(0)));
  EXPECT_GE(versions.size(), 16U);
  for (const auto& [version, kinds] : versions) {
    for (const std::span<const Wanted> some : {things(), wanted()}) {
      for (const Wanted& want : some)
        EXPECT_EQ(kinds.contains(want.kind), version >= want.since) << version << ' ' << want.what;
    }
  }
}

TEST(RealLibraries, NameTheCallsThatWeWatchAsTheirNumbersSay) {
  // By version and domain, the numbers that have a name.
  std::map<std::uint32_t, std::map<std::pair<int, int>, std::string>> calls;
  for (const Row& row : table())
    if (row.what == "call")
      calls[row.version][{std::stoi(row.rest.at(0)), std::stoi(row.rest.at(1))}] = row.rest.at(2);
  ASSERT_GE(calls.size(), 16U);
  std::vector<Watched> ours;
  for (const std::span<const Watched> some : {watched_calls(), plain_launches(), noisy_calls()})
    ours.insert(ours.end(), some.begin(), some.end());
  for (const Watched& watched : ours) {
    // Of errors of CUPTI's own there is no call.
    if (watched.domain == CUPTI_CB_DOMAIN_STATE) continue;
    for (const auto& [version, names] : calls) {
      const auto named = names.find({watched.domain, static_cast<int>(watched.id)});
      ASSERT_NE(named, names.end()) << version << " has no name for " << watched.name
                                    << ": tools/cupti_table.py must ask for it";
      EXPECT_EQ(named->second, watched.name) << version;
    }
  }
}

TEST(RealLibraries, HaveNamesOfWhichTheWordsForUsersAreKnown) {
  const std::map<std::pair<int, int>, std::string> ours = {
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}, "cudaLaunchKernel"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060}, "cudaLaunchKernelExC"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz}, "cuLaunchKernelEx"},
      {{2, 505}, "cudaLaunchKernel"},
      {{2, 131}, "cudaStreamSynchronize"},
  };
  std::size_t compared = 0;
  for (const Row& row : table()) {
    if (row.what != "call") continue;
    const auto known = ours.find({std::stoi(row.rest.at(0)), std::stoi(row.rest.at(1))});
    if (known == ours.end()) continue;
    EXPECT_EQ(without_version(row.rest.at(2)), known->second) << row.version;
    ++compared;
  }
  EXPECT_GE(compared, 40U);
}

}  // namespace
}  // namespace fathom::cuda
