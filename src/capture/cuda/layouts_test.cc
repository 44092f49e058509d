// Our record layouts and numbers of calls against what real libraries of CUPTI say: the table that
// tools/cupti_table.py writes.
#include "capture/cuda/layouts.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/cuda/cupti_names.h"
#include "capture/cuda/fallback.h"

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
  EXPECT_GE(compared, 100U);
}

TEST(RealLibraries, HaveTheKindsThatWeAskFor) {
  std::map<std::uint32_t, std::set<int>> versions;
  for (const Row& row : table())
    if (row.what == "record") versions[row.version].insert(std::stoi(row.rest.at(0)));
  EXPECT_GE(versions.size(), 10U);
  for (const auto& [version, kinds] : versions) {
    for (const Wanted& want : wanted())
      EXPECT_EQ(kinds.contains(want.kind), version >= want.since) << version << ' ' << want.what;
  }
}

TEST(RealLibraries, NameTheCallsThatWeWatchAsTheirNumbersSay) {
  const std::map<std::pair<int, int>, std::string> ours = {
      {{1, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2}, "cuCtxDestroy"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2}, "cuDevicePrimaryCtxReset"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel}, "cuLaunchKernel"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart}, "cuProfilerStart"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}, "cuProfilerStop"},
      {{1, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz}, "cuLaunchKernelEx"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020}, "cudaDeviceReset"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000}, "cudaProfilerStart"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000}, "cudaProfilerStop"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}, "cudaLaunchKernel"},
      {{2, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060}, "cudaLaunchKernelExC"},
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
  EXPECT_GE(compared, 100U);
}

}  // namespace
}  // namespace fathom::cuda
