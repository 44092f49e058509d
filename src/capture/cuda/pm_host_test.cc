// The plan for real chips, by CUPTI's own host interface, which some versions run without a driver.
#include "capture/cuda/pm_host.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "capture/cuda/pm_driver.h"

namespace fathom::cuda {
namespace {

namespace fs = std::filesystem;

/// The libcupti whose headers these are, as packages have it.
std::string libcupti() {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(FATHOM_CUPTI_HEADERS "/../lib", failure)) {
    if (entry.path().filename().string().starts_with("libcupti.so")) return entry.path().string();
  }
  return {};
}

class RealHost : public testing::Test {
 protected:
  void SetUp() override {
#ifdef FATHOM_SANITIZE_ADDRESS
    GTEST_SKIP() << "libcupti opens libraries with RTLD_DEEPBIND, which sanitizers refuse";
#endif
    const std::string file = libcupti();
    if (file.empty()) GTEST_SKIP() << "no libcupti beside its headers";
    std::string missing;
    ASSERT_TRUE(load_pm(file, functions_, missing)) << missing;
    const CUptiResult result = PmHost(functions_, "GH100", {}).check();
    if (result != CUPTI_SUCCESS)
      GTEST_SKIP() << "this CUPTI wants a driver, error " << static_cast<int>(result);
  }

  PmPlan plan(const std::string& chip) {
    PmHost host(functions_, chip, {});
    EXPECT_EQ(host.check(), CUPTI_SUCCESS) << chip;
    return plan_pm(host.chip(), {});
  }

  PmFunctions functions_;
};

bool has(const PmPlan& plan, std::string_view track) {
  for (const PmTrack& each : plan.tracks)
    if (each.name == track) return true;
  return false;
}

TEST_F(RealHost, ChipsOfDataCentresHaveAllTracksInOnePass) {
  for (const char* const chip : {"GA100", "GH100"}) {
    const PmPlan planned = plan(chip);
    EXPECT_EQ(planned.tracks.size(), 8U) << chip;
    EXPECT_TRUE(planned.left_out.empty()) << chip;
  }
}

TEST_F(RealHost, EveryChipWithPmSamplingShowsHowBusyItIs) {
  for (const char* const chip : {"TU102", "GA102", "AD102", "GB100", "GB202"}) {
    const PmPlan planned = plan(chip);
    EXPECT_TRUE(has(planned, "gpu.sm_active")) << chip;
    EXPECT_TRUE(has(planned, "gpu.dram_bandwidth")) << chip;
    EXPECT_TRUE(has(planned, "gpu.dram_read")) << chip;
    // Turing needs two passes for its tensor cores.
    EXPECT_EQ(has(planned, "gpu.tensor_active"), std::string_view(chip) != "TU102") << chip;
  }
}

TEST_F(RealHost, TheImageOfAPlanIsOfOnePass) {
  PmHost host(functions_, "GH100", {});
  std::vector<std::string> metrics;
  for (const PmTrack& track : plan_pm(host.chip(), {}).tracks) metrics.push_back(track.metric);
  std::vector<std::uint8_t> image;
  EXPECT_EQ(host.choose(metrics, image), CUPTI_SUCCESS);
  EXPECT_FALSE(image.empty());
  EXPECT_EQ(host.names().size(), metrics.size());
  EXPECT_EQ(host.chip().passes(metrics), 1U);
}

TEST_F(RealHost, UnknownMetricsAndChipsAreRefused) {
  PmHost host(functions_, "GH100", {});
  EXPECT_FALSE(host.chip().has("sm__no_such_thing.avg"));
  EXPECT_NE(PmHost(functions_, "XX999", {}).check(), CUPTI_SUCCESS);
  EXPECT_TRUE(plan_pm(PmHost(functions_, "GV100", {}).chip(), {}).tracks.empty());
}

TEST(LoadPm, NamesWhatALibraryLacks) {
  PmFunctions functions;
  std::string missing;
  EXPECT_FALSE(load_pm("libc.so.6", functions, missing));
  EXPECT_EQ(missing, "cuptiProfilerHostInitialize");
}

TEST(PmDriver, AGpusNumberIsItsPlaceOnTheBus) {
  const std::vector<std::string> folders = {"0000:af:00.0", "0000:3b:00.0"};
  EXPECT_EQ(place_on_bus(folders, "0000:3B:00.0"), 0);
  EXPECT_EQ(place_on_bus(folders, "0000:AF:00.0"), 1);
  EXPECT_FALSE(place_on_bus(folders, "0000:00:00.0"));
}

}  // namespace
}  // namespace fathom::cuda
