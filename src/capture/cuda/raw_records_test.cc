// Records that are kept and read again; and those of real GPUs, where tests/data/cupti has some.
#include "capture/cuda/raw_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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

/// What is wrong with the records of the files in that folder and below, which are read as those of
/// a libcupti; how many files there are.
std::vector<std::string> wrong_records(const std::filesystem::path& folder, std::size_t& files) {
  std::vector<std::string> wrong;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() != ".raw") continue;
    ++files;
    const auto lacks = [&](const std::string& what) {
      wrong.push_back(entry.path().filename().string() + ": " + what);
    };
    std::ifstream file(entry.path(), std::ios::binary);
    auto read =
        RawRecords::of({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    if (!read) {
      lacks("not read");
      continue;
    }
    // Headers know no record that is newer than they are.
    if (read->version() > CUPTI_API_VERSION) continue;
    const wire::TemporaryFolder scratch;
    const std::unique_ptr<wire::Writer> writer =
        std::move(*wire::Writer::open(scratch.file("x.fathom")));
    ClockFit clock;
    clock.add({0, 0, 1});
    Converter converter(*writer, clock, 1, read->version(), nullptr);
    for (RawRecord& record : read->records()) converter.convert(record.activity());
    const ConverterCounts& counts = converter.counts();
    if (counts.records == 0) lacks("no record");
    if (counts.unknown != 0) lacks("records that are not known");
    if (counts.without_time != 0) lacks("records without a time");
  }
  return wrong;
}

/// Of all files that `tools/gpu_check.sh` brought from machines with a GPU.
TEST(RealRecords, AreReadWithoutAnUnknownOneOrOneWithoutATime) {
  std::size_t files = 0;
  EXPECT_EQ(wrong_records(std::string(FATHOM_SOURCE_DIR) + "/tests/data/cupti", files),
            std::vector<std::string>{});
  if (files == 0) GTEST_SKIP() << "no records of a real GPU are at hand";
}

/// As the check of them would find it, should a GPU's be so.
TEST(RealRecords, ThatAreUnknownOrWithoutATimeOrCutOffAreFound) {
  const wire::TemporaryFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.file(name), std::ios::binary) << text;
  };
  const auto text_of = [](const KernelRecord& record) {
    RawRecords kept(CUPTI_API_VERSION);
    kept.keep(as_activity(record));
    return kept.text();
  };
  const std::string whole = text_of(a_kernel("k"));
  const std::filesystem::path all = std::filesystem::path(folder.file("a")).parent_path();
  put("a_right.raw", whole);
  put("notes.txt", "no records");
  std::size_t files = 0;
  EXPECT_EQ(wrong_records(all, files), std::vector<std::string>{});
  EXPECT_EQ(files, 1U);

  KernelRecord timeless = a_kernel("k");
  timeless.start = timeless.end = 0;
  put("b_timeless.raw", text_of(timeless));
  // The kind is what a record begins with, behind the magic and four words of the file's own.
  constexpr std::size_t kKind = 11 + 4 * sizeof(std::uint32_t);
  std::string unknown = whole;
  ASSERT_EQ(unknown.at(kKind), static_cast<char>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  unknown.at(kKind) = static_cast<char>(CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION);
  put("c_unknown.raw", unknown);
  put("d_cut.raw", whole.substr(0, whole.size() - 1));
  put("e_empty.raw", RawRecords(CUPTI_API_VERSION).text());
  files = 0;
  std::vector<std::string> wrong = wrong_records(all, files);
  std::ranges::sort(wrong);
  EXPECT_EQ(files, 5U);
  for (const char* const each :
       {"b_timeless.raw: records without a time", "c_unknown.raw: records that are not known",
        "d_cut.raw: not read", "e_empty.raw: no record"})
    EXPECT_TRUE(std::ranges::find(wrong, each) != wrong.end()) << each;
  for (const std::string& each : wrong) EXPECT_NE(each.substr(0, 2), "a_") << each;
}

}  // namespace
}  // namespace fathom::cuda
