// Records that are kept and read again; and those of real GPUs, where tests/data/cupti has some.
#include "capture/cuda/raw_records.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "capture/cuda/converter.h"
#include "capture/cuda/layouts.h"
#include "wire/wire_test_support.h"

namespace fathom::cuda {
namespace {

KernelRecord a_kernel(const char* name) {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.start = 1000;
  record.end = 2000;
  return record;
}

const CUpti_Activity& as_activity(const KernelRecord& record) {
  return reinterpret_cast<const CUpti_Activity&>(record);
}

TEST(RawRecords, KeepARecordWithTheTextThatItPointsTo) {
  RawRecords kept(CUPTI_API_VERSION);
  {
    const std::string name = "_Z3addPfS_i";
    kept.keep(as_activity(a_kernel(name.c_str())));
  }
  auto read = RawRecords::of(kept.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version(), CUPTI_API_VERSION);
  ASSERT_EQ(read->records().size(), 1U);
  const auto& kernel = reinterpret_cast<const KernelRecord&>(read->records()[0].activity());
  EXPECT_STREQ(kernel.name, "_Z3addPfS_i");
  EXPECT_EQ(kernel.end, 2000U);
}

TEST(RawRecords, SoManyOfEachKindAreKept) {
  RawRecords kept(CUPTI_API_VERSION);
  for (std::size_t i = 0; i < 3 * RawRecords::kMost; ++i) kept.keep(as_activity(a_kernel("k")));
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  kept.keep(reinterpret_cast<const CUpti_Activity&>(call));
  EXPECT_EQ(kept.records().size(), RawRecords::kMost + 1);
}

TEST(RawRecords, WhatIsCutOffOrSomethingElseIsNotRead) {
  RawRecords kept(CUPTI_API_VERSION);
  kept.keep(as_activity(a_kernel("k")));
  const std::string text = kept.text();
  EXPECT_TRUE(RawRecords::of(text));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(RawRecords::of(text.substr(0, length))) << length;
  EXPECT_FALSE(RawRecords::of("something else"));
}

/// Of all files that `tools/gpu_check.sh` brought from machines with a GPU.
TEST(RealRecords, AreReadWithoutAnUnknownOneOrOneWithoutATime) {
  const std::filesystem::path folder = std::string(FATHOM_SOURCE_DIR) + "/tests/data/cupti";
  std::size_t files = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() != ".raw") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    auto read =
        RawRecords::of({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    ASSERT_TRUE(read) << entry.path();
    ++files;
    // Headers know no record that is newer than they are.
    if (read->version() > CUPTI_API_VERSION) continue;
    const wire::TemporaryFolder scratch;
    const std::unique_ptr<wire::Writer> writer =
        std::move(*wire::Writer::open(scratch.file("x.fathom")));
    ClockFit clock;
    clock.add({0, 0, 1});
    Converter converter(*writer, clock, 1, read->version(), nullptr);
    for (RawRecord& record : read->records()) converter.convert(record.activity());
    EXPECT_GT(converter.counts().records, 0U) << entry.path();
    EXPECT_EQ(converter.counts().unknown, 0U) << entry.path();
    EXPECT_EQ(converter.counts().without_time, 0U) << entry.path();
  }
  if (files == 0) GTEST_SKIP() << "no records of a real GPU are at hand";
}

}  // namespace
}  // namespace fathom::cuda
