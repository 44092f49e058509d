// The sizes of structures that sampling passes to CUPTI, against what the headers of each version
// have: the table that tools/cupti_table.py writes. A library refuses any other size.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "capture/cuda/folder.h"
#include "capture/cuda/pm_functions.h"

namespace fathom::cuda {
namespace {

using Sizes = std::map<std::uint32_t, std::size_t>;

/// By structure, from which version on it has which size.
std::map<std::string, Sizes> table() {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + "/src/capture/cuda/cupti_table.txt");
  std::map<std::string, Sizes> structures;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    std::uint32_t since = 0;
    std::string name;
    std::size_t bytes = 0;
    if (words >> what >> since >> name >> bytes && what == "size") structures[name][since] = bytes;
  }
  return structures;
}

/// Structures whose size the sampler states.
std::set<std::string> stated() {
  const std::string folder = std::string(FATHOM_SOURCE_DIR) + "/src/capture/cuda";
  const std::regex size(R"((CUpti_\w+)_STRUCT_SIZE)");
  std::set<std::string> names;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("pm_") || name.ends_with("_test.cc")) continue;
    std::ifstream file(folder + "/" + name);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator at(text.begin(), text.end(), size), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

TEST(StructuresOfSampling, HaveOneSizeInEachVersionButForThoseThatAreTriedInTwo) {
  const std::map<std::string, Sizes> structures = table();
  const std::map<std::string, Sizes> two = {
      {"CUpti_PmSampling_SetConfig_Params",
       {{24, CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode)},
        {26, sizeof(CUpti_PmSampling_SetConfig_Params)}}},
      {"CUpti_Profiler_Host_Initialize_Params",
       {{24, CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject)},
        {130200, 56}}},
  };
  const std::set<std::string> names = stated();
  EXPECT_GE(names.size(), 19U);
  for (const std::string& name : names) {
    const auto known = structures.find(name);
    ASSERT_NE(known, structures.end()) << name;
    if (const auto tried = two.find(name); tried != two.end()) {
      EXPECT_EQ(known->second, tried->second) << name;
    } else {
      EXPECT_EQ(known->second.size(), 1U) << name << ": another size in a later version";
    }
  }
}

}  // namespace
}  // namespace fathom::cuda
