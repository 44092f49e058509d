// The parts of the library that need no CUPTI.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/cuda/buffers.h"
#include "capture/cuda/cupti.h"
#include "capture/cuda/cupti_names.h"
#include "capture/cuda/fallback.h"
#include "capture/cuda/graph_cost.h"
#include "capture/cuda/options.h"

namespace fathom::cuda {
namespace {

TEST(Buffers, BeyondTheCapTheyAreDiscardedAndThatIsCountedAndNoneIsNull) {
  Buffers buffers(2 * Buffers::kBytes);
  std::uint8_t* const first = buffers.request();
  std::uint8_t* const second = buffers.request();
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  std::uint8_t* const beyond = buffers.request();
  std::uint8_t* const another = buffers.request();
  ASSERT_NE(beyond, nullptr);
  ASSERT_NE(another, beyond);
  EXPECT_EQ(buffers.outstanding(), 4U);
  EXPECT_EQ(buffers.take_refused(), 2U);
  EXPECT_EQ(buffers.take_refused(), 0U);
  beyond[100] = 1;
  EXPECT_FALSE(buffers.complete(beyond, 200));
  buffers.discard(beyond, 3);
  EXPECT_EQ(buffers.take_discarded(), 3U);
  EXPECT_EQ(buffers.filled(), 0U);
  EXPECT_EQ(buffers.request(), beyond);
  EXPECT_EQ(beyond[100], 0);
  first[99] = 1;
  EXPECT_TRUE(buffers.complete(first, 100));
  EXPECT_TRUE(buffers.complete(second, 0));
  EXPECT_EQ(buffers.filled(), 1U);
  const auto filled = buffers.take();
  ASSERT_TRUE(filled);
  EXPECT_EQ(filled->bytes, first);
  EXPECT_EQ(filled->size, 100U);
  EXPECT_FALSE(buffers.take());
  EXPECT_EQ(buffers.request(), second);
  buffers.give_back(first);
  EXPECT_EQ(buffers.request(), first);
  EXPECT_EQ(first[99], 0);
}

/// The answer to a request while the system has no memory for another buffer.
std::uint8_t* request_without_memory(Buffers& buffers) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{Buffers::kBytes / 2, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  std::uint8_t* const bytes = buffers.request();
  setrlimit(RLIMIT_AS, &before);
  return bytes;
}

TEST(Buffers, WithoutMemoryOneServesAllAndHoldsZerosAndIsCountedWhereItCanBeRead) {
  Buffers buffers(8 * Buffers::kBytes);
  std::uint8_t* const last = request_without_memory(buffers);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(buffers.outstanding(), 1U);
  last[100] = 1;
  EXPECT_FALSE(buffers.complete(last, 200));
  buffers.discard(last, 3);
  EXPECT_EQ(buffers.take_discarded(), 3U);
  EXPECT_EQ(request_without_memory(buffers), last);
  EXPECT_EQ(last[100], 0);
  // A second one writes over what the first has in it.
  EXPECT_EQ(request_without_memory(buffers), last);
  EXPECT_EQ(buffers.outstanding(), 2U);
  EXPECT_TRUE(buffers.complete(last, 200));
  EXPECT_TRUE(buffers.complete(last, 200));
  EXPECT_EQ(buffers.outstanding(), 0U);
  EXPECT_EQ(buffers.take_failed(), 3U);
}

TEST(Buffers, OnceAbandonedTheyAreUsedAgainAtOnce) {
  Buffers buffers(8 * Buffers::kBytes);
  buffers.abandon();
  std::uint8_t* const first = buffers.request();
  EXPECT_TRUE(buffers.complete(first, 100));
  EXPECT_EQ(buffers.filled(), 0U);
  EXPECT_EQ(buffers.request(), first);
  EXPECT_EQ(buffers.moves(), 3U);
}

TEST(Ladder, EachRungFollowsFromTheAnswers) {
  std::vector<CUptiResult> answers(wanted().size(), CUPTI_SUCCESS);
  EXPECT_EQ(level_of(answers), FallbackLevel::full);
  answers.back() = CUPTI_ERROR_NOT_SUPPORTED;
  EXPECT_EQ(level_of(answers), FallbackLevel::partial);
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (wanted()[i].device) answers[i] = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  EXPECT_EQ(level_of(answers), FallbackLevel::events);
}

TEST(Ladder, EachLossNamesTheRemedyWithTheLeastRights) {
  const Loss rights = loss_of("kernels", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "X");
  EXPECT_EQ(rights.what, "kernels");
  EXPECT_NE(rights.why.find("(X)"), std::string::npos);
  EXPECT_NE(rights.remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  const Loss held = loss_of("kernels", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "X");
  EXPECT_NE(held.why.find("another profiler"), std::string::npos);
  const Loss other = loss_of("kernels", CUPTI_ERROR_UNKNOWN, "X");
  EXPECT_NE(other.remedy.find("fathom doctor"), std::string::npos);
}

TEST(Ladder, WithoutAGpuThatIsTheReason) {
  std::string pattern = testing::TempDir() + "devices-XXXXXX";
  const std::string devices = mkdtemp(pattern.data());
  const auto shows = [&devices](const char* name) {
    const std::string path = devices + "/" + name;
    std::ofstream(path) << "";
    const bool shown = shows_gpu(devices.c_str());
    EXPECT_EQ(unlink(path.c_str()), 0);
    return shown;
  };
  EXPECT_FALSE(shows_gpu(devices.c_str()));
  // The driver makes these without a GPU, too.
  for (const char* const name : {"nvidiactl", "nvidia-uvm", "nvidia", "dri"})
    EXPECT_FALSE(shows(name)) << name;
  for (const char* const name : {"nvidia0", "nvidia15", "dxg", "nvgpu", "nvhost-gpu"})
    EXPECT_TRUE(shows(name)) << name;
  EXPECT_EQ(rmdir(devices.c_str()), 0);
  EXPECT_TRUE(shows_gpu(devices.c_str())) << "not known";
  Loss loss = loss_of("kernels", CUPTI_ERROR_NOT_INITIALIZED, "X");
  explain_absent(loss);
  EXPECT_TRUE(loss.why.starts_with("no GPU is shown to this process"));
  EXPECT_NE(loss.why.find("this CUPTI does not start"), std::string::npos);
  EXPECT_NE(loss.remedy.find("--gpus all"), std::string::npos);
  EXPECT_NE(loss.remedy.find("FATHOM_CUPTI"), std::string::npos);
}

TEST(Ladder, OfLongRecordingsOlderVersionsAreSaidToCostMoreAndMore) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  EXPECT_FALSE(loss_of_length(130001, 9 * kMinute));
  ASSERT_TRUE(loss_of_length(130001, 10 * kMinute));
  EXPECT_TRUE(loss_of_length(130400, 10 * kMinute));
  EXPECT_FALSE(loss_of_length(130401, 10 * kMinute));
}

TEST(Options, AreThoseOfTheLauncher) {
  EXPECT_TRUE(options_of("").record);
  EXPECT_FALSE(options_of("").range_only);
  EXPECT_FALSE(options_of(R"({"cuda": false})").record);
  EXPECT_TRUE(options_of(R"({"cuda_beside_torch": true})").beside_torch);
  EXPECT_TRUE(options_of(R"({"cuda_graph_nodes": true})").graph_nodes);
  EXPECT_EQ(options_of("").metrics_hz, 0);
  EXPECT_EQ(options_of(R"({"gpu_metrics_hz": 500})").metrics_hz, 500);
  EXPECT_TRUE(options_of(R"({"with": ["shapes", "libraries"]})").libraries);
  EXPECT_FALSE(options_of(R"({"with": ["shapes"], "range": "libraries"})").libraries);
  EXPECT_EQ(options_of(R"({"on_signal": "SIGUSR2"})").signal, SIGUSR2);
  EXPECT_EQ(options_of(R"({"on_signal": null})").signal, 0);
  EXPECT_TRUE(options_of(R"({"range": "cuda-profiler"})").range_only);
  EXPECT_TRUE(options_of(R"({"range":"cuda-profiler"})").range_only);
  EXPECT_FALSE(options_of(R"({"range": "train"})").range_only);
  EXPECT_TRUE(options_of(R"({"from_start": false})").range_only);
  EXPECT_EQ(options_of(R"({"max_memory_bytes": 8388608})").max_bytes, std::size_t{8} << 20);
}

TEST(CuptiCandidates, ThatOfTheProcessComesFirst) {
  CuptiPlaces places;
  places.loaded = {"/usr/lib/libc.so.6", "/opt/x/nvidia/cuda_cupti/lib/libcupti.so.12"};
  places.homes = {"/usr/local/cuda"};
  const auto files = cupti_candidates(places);
  EXPECT_EQ(files.front(), "/opt/x/nvidia/cuda_cupti/lib/libcupti.so.12");
  EXPECT_EQ(files.back(), "libcupti.so");
  EXPECT_NE(std::ranges::find(files, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"),
            files.end());
}

TEST(CuptiCandidates, PackagesBesideTheRuntimeOfThePackageAreLookedInto) {
  CuptiPlaces places;
  places.loaded = {"/v/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12"};
  const auto files = cupti_candidates(places);
  for (const char* const file : {"/v/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
                                 "/v/site-packages/nvidia/cu13/lib/libcupti.so.13"})
    EXPECT_NE(std::ranges::find(files, file), files.end()) << file;
}

TEST(CuptiCandidates, TheDriversVersionDecidesWhichIsTriedFirst) {
  CuptiPlaces places;
  EXPECT_EQ(cupti_candidates(places).front(), "libcupti.so.13");
  places.driver_major = 12;
  EXPECT_EQ(cupti_candidates(places).front(), "libcupti.so.12");
  // In all folders, before any other version.
  places.homes = {"/usr/local/cuda-13", "/usr/local/cuda-12"};
  const auto files = cupti_candidates(places);
  const auto fits = std::ranges::find(files, "/usr/local/cuda-12/lib64/libcupti.so.12");
  const auto newer = std::ranges::find(files, "/usr/local/cuda-13/lib64/libcupti.so.13");
  EXPECT_LT(fits - files.begin(), newer - files.begin());
}

TEST(CuptiCandidates, ANamedFileIsTheOnlyOne) {
  CuptiPlaces places;
  places.named = "/mine.so";
  places.loaded = {"/opt/libcupti.so.12"};
  EXPECT_EQ(cupti_candidates(places), std::vector<std::string>{"/mine.so"});
}

TEST(OpenCupti, SaysWhyThereIsNone) {
  Cupti cupti;
  std::string why;
  EXPECT_FALSE(open_cupti({"/nowhere/libcupti.so.13"}, cupti, why));
  EXPECT_FALSE(why.empty());
  EXPECT_FALSE(open_cupti({"libc.so.6"}, cupti, why));
  EXPECT_NE(why.find("cuptiGetVersion"), std::string::npos) << why;
}

TEST(GraphCost, IsTheMedianOfLaunchesRecordedInOneWay) {
  GraphCost cost;
  EXPECT_EQ(cost.text(true), "");
  cost.launch(900'000);  // the first one uploads the graph
  for (int i = 0; i < 10; ++i) cost.launch(41'000);
  EXPECT_NE(cost.text(true).find("41.0 us (median of 11) with its nodes"), std::string::npos);
  EXPECT_NE(cost.text(false).find("as a whole"), std::string::npos);
}

TEST(Words, FunctionsLoseTheirVersions) {
  EXPECT_EQ(without_version("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(without_version("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(without_version("cuLaunchKernel_ptsz"), "cuLaunchKernel");
  EXPECT_EQ(without_version("cuMemcpyHtoD_v2"), "cuMemcpyHtoD");
  EXPECT_EQ(without_version("cuda_vector"), "cuda_vector");
  EXPECT_EQ(without_version("__cudaLaunchKernel_ptsz_v13000"), "cudaLaunchKernel");
}

TEST(Words, NamesAreDemangledAndLongOnesCut) {
  Demangler demangle;
  EXPECT_EQ(demangle("_Z3addPfS_i"), "add(float*, float*, int)");
  EXPECT_EQ(demangle("gemm_128x64"), "gemm_128x64");
  EXPECT_EQ(demangle(nullptr), "(no name)");
  EXPECT_EQ(demangle(std::string(9999, 'x').c_str()).size(), Demangler::kLongest);
}

TEST(Words, NumbersOfNewerLibrariesAreUnknown) {
  EXPECT_EQ(copy_kind_word(99), "Unknown");
  EXPECT_EQ(memory_kind_word(99), "Unknown");
  EXPECT_EQ(wait_word(99), "Unknown");
  EXPECT_EQ(overhead_word(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER), "Driver Compiler");
  EXPECT_EQ(overhead_word(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH), "Buffer Flush");
  EXPECT_EQ(overhead_word(99U << 16), "Unknown");
}

}  // namespace
}  // namespace fathom::cuda
