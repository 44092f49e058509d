#include "analysis/health/recorder_faults.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>

#include "analysis/health/health.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Health health_of(TraceBuilder& builder) {
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  return compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
}

/// Two profiles of a process; the launches of each, of which so many at its beginning have no
/// kernel.
void profiles(TraceBuilder& builder, int lost_first, int lost_in_between) {
  std::int64_t number = 0;
  for (std::int64_t profile = 0; profile < 2; ++profile) {
    const std::int64_t begin = profile * 100'000;
    builder.slice(SliceKind::trace_span, "PyTorch Profiler (0)", begin, 50'000);
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::int64_t at = begin + 1000 * (i + 1);
      builder.runtime("cudaLaunchKernel", at, 10, ++number);
      if (i < lost_first || (i >= 10 && i < 10 + lost_in_between)) continue;
      builder.kernel("add", at + 100, 50, number);
    }
  }
}

TEST(RecorderFaults, KernelsThatAProfileLacksAtItsBeginningAreCounted) {
  TraceBuilder builder;
  builder.fact("cupti_version", "24");
  profiles(builder, 2, 0);
  const Health health = health_of(builder);
  const HealthCheck* const check = health.find("cupti_first_kernels_lost");
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(check->count, 4U);
  EXPECT_EQ(check->of, 40U);
  EXPECT_EQ(check->status, CheckStatus::warning);
  EXPECT_NE(check->advice.find("--steps"), std::string::npos);
}

TEST(RecorderFaults, AVersionWithoutTheFaultIsNotBlamed) {
  for (const char* const version : {"23", "130101", "130400"}) {
    TraceBuilder builder;
    builder.fact("cupti_version", version);
    profiles(builder, 2, 0);
    EXPECT_EQ(health_of(builder).find("cupti_first_kernels_lost"), nullptr) << version;
  }
  TraceBuilder unknown;
  profiles(unknown, 2, 0);
  EXPECT_EQ(health_of(unknown).find("cupti_first_kernels_lost"), nullptr);
}

TEST(RecorderFaults, ARecordingWithoutTheSignIsNotAccused) {
  for (const char* const version : {"18", "22", "24", "130000"}) {
    TraceBuilder builder;
    builder.fact("process 7 cuda.cupti.version", '"' + std::string(version) + '"');
    profiles(builder, 0, 0);
    const Health health = health_of(builder);
    for (const RecorderFault& fault : recorder_faults())
      EXPECT_EQ(health.find(fault.id), nullptr) << version << ' ' << fault.id;
  }
}

TEST(RecorderFaults, KernelsThatAreMissingLaterAreAnotherFault) {
  TraceBuilder builder;
  builder.fact("cuda.cupti.version", "\"22\"");
  profiles(builder, 1, 3);
  const Health health = health_of(builder);
  EXPECT_EQ(health.find("cupti_kernels_lost")->count, 6U);
  EXPECT_EQ(health.find("cupti_first_kernels_lost"), nullptr);
}

TEST(RecorderFaults, ACopyBeforeTheFirstKernelsDoesNotHideThatTheyAreMissing) {
  TraceBuilder builder;
  builder.fact("cupti_version", "24");
  builder.runtime("cudaMemcpyAsync", 10, 5, 1);
  builder.copy(CopyKind::h2d, 16, 5, 1);
  builder.runtime("cudaLaunchKernel", 20, 5, 2);
  builder.runtime("cudaLaunchKernel", 30, 5, 3);
  builder.kernel("add", 40, 5, 3);
  const Health health = health_of(builder);
  ASSERT_NE(health.find("cupti_first_kernels_lost"), nullptr);
  EXPECT_EQ(health.find("cupti_first_kernels_lost")->count, 1U);
}

TEST(RecorderFaults, FillsOfNothingAreNoSign) {
  TraceBuilder builder;
  builder.fact("cupti_version", "24");
  builder.runtime("cudaMemsetAsync", 10, 5, 1);
  builder.runtime("cudaLaunchKernel", 20, 5, 2);
  builder.kernel("add", 30, 5, 2);
  EXPECT_EQ(health_of(builder).find("cupti_first_kernels_lost"), nullptr);
}

TEST(RecorderFaults, WaitsForADeviceWithoutARecordAreSaidWhereOthersHaveOne) {
  const auto found = [](const char* version, const char* recorded) {
    TraceBuilder builder;
    builder.fact("cupti_version", version);
    builder.runtime("cudaLaunchKernel", 20, 5, 2);
    builder.kernel("add", 30, 50, 2);
    builder.runtime("cudaDeviceSynchronize", 40, 60, 3);
    if (recorded != nullptr) builder.sync(recorded, 41, 55, 3);
    return health_of(builder).find("cupti_device_waits") != nullptr;
  };
  EXPECT_TRUE(found("130000", "Stream Sync"));
  EXPECT_FALSE(found("130000", "Context Sync"));
  EXPECT_FALSE(found("130000", nullptr));
  EXPECT_FALSE(found("130001", "Stream Sync"));
}

TEST(RecorderFaults, GraphsOfALaterProfileMayBeLinkedWrongly) {
  const auto graphs = [](const char* version, int profiles) {
    TraceBuilder builder;
    builder.fact("cupti_version", version);
    for (std::int64_t i = 0; i < profiles; ++i) {
      builder.slice(SliceKind::trace_span, "PyTorch Profiler (0)", i * 1000, 500);
      builder.runtime("cudaGraphLaunch", i * 1000 + 10, 5, i + 1);
      builder.kernel("add", i * 1000 + 30, 50, i + 1);
    }
    const Health health = health_of(builder);
    const HealthCheck* const check = health.find("cupti_graph_links");
    return check == nullptr ? 0 : check->count;
  };
  EXPECT_EQ(graphs("28", 1), 0U);
  EXPECT_EQ(graphs("28", 3), 2U);
  EXPECT_EQ(graphs("130101", 3), 0U);
}

TEST(RecorderFaults, ARecordingWithoutAnyKernelIsNoticedWhereThatIsKnown) {
  const auto found = [](const char* version, bool kernel) {
    TraceBuilder builder;
    builder.fact("cupti_version", version);
    builder.runtime("cudaLaunchKernel", 20, 5, 1);
    builder.runtime("cudaLaunchKernel", 30, 5, 2);
    if (kernel) builder.kernel("add", 40, 5, 2);
    const Health health = health_of(builder);
    const HealthCheck* const check = health.find("cupti_no_kernels");
    return check == nullptr ? 0 : check->count;
  };
  EXPECT_EQ(found("130001", false), 2U);
  EXPECT_EQ(found("130001", true), 0U);
  EXPECT_EQ(found("130100", false), 0U);
  EXPECT_EQ(found("28", false), 0U);
}

TEST(RecorderFaults, AProcessThatCrashedNeedNotHaveItselfToBlame) {
  const auto found = [](const char* version, int status) {
    TraceBuilder builder;
    builder.fact("cupti_version", version);
    builder.runtime("cudaLaunchKernel", 20, 5, 1);
    builder.kernel("add", 40, 5, 1);
    Trace trace = builder.build();
    trace.process_runs = {{.pid = 6, .status = 0}, {.pid = 7, .status = status}};
    const Analyses analyses(trace);
    const Health health =
        compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
    const HealthCheck* const check = health.find("cupti_crashes");
    return check == nullptr ? 0 : check->count;
  };
  constexpr int kFailed = 1 << 8;
  EXPECT_EQ(found("28", SIGSEGV), 1U);
  EXPECT_EQ(found("28", SIGKILL), 0U);
  EXPECT_EQ(found("28", kFailed), 0U);
  EXPECT_EQ(found("28", -1), 0U);
  EXPECT_EQ(found("130001", SIGSEGV), 0U);
}

TEST(RecorderFaults, TheTableOfTheDocumentationHasEach) {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + "/docs/cuda.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::set<std::string_view> ids;
  for (const RecorderFault& fault : recorder_faults()) {
    EXPECT_TRUE(ids.insert(fault.id).second) << fault.id;
    const std::size_t id = page.find('`' + std::string(fault.id) + '`');
    ASSERT_NE(id, std::string::npos) << fault.id;
    const std::size_t row = page.rfind("\n| ", id);
    EXPECT_TRUE(page.substr(row).starts_with("\n| " + std::string(fault.versions) + " |"))
        << fault.id;
  }
}

}  // namespace
}  // namespace fathom
