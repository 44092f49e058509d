// A trace that grows as a process writes it.
#include "capture/attach/kineto_trace.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace fathom::capture {
namespace {

namespace fs = std::filesystem;

class KinetoTraceTest : public testing::Test {
 public:
  KinetoTraceTest() { fs::create_directory(root_ / "tmp"); }
  ~KinetoTraceTest() override { fs::remove_all(root_); }
  KinetoTraceTest(const KinetoTraceTest&) = delete;
  KinetoTraceTest& operator=(const KinetoTraceTest&) = delete;

 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / "tmp" / name, std::ios::app) << text;
  }
  /// Looks until it is complete, at most ten times. Returns the number of looks, or 0.
  int looks_until_complete() {
    for (int look = 1; look <= 10; ++look) {
      if (trace_.is_complete()) return look;
    }
    return 0;
  }

  static fs::path make_folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_kineto_XXXXXX").string();
    return mkdtemp(pattern.data());
  }

  fs::path root_ = make_folder();
  KinetoTrace trace_ = make();

 private:
  [[nodiscard]] KinetoTrace make() const { return {12, "7", "/tmp", root_.string()}; }
};

TEST_F(KinetoTraceTest, IsCompleteOnceItEndsAsJsonAndGrowsNoMore) {
  EXPECT_EQ(trace_.file(), "/tmp/fathom-attach-12-7.json");
  EXPECT_FALSE(trace_.exists());
  EXPECT_EQ(looks_until_complete(), 0);
  write("fathom-attach-12-7.json", "{\"traceEvents\": [");
  EXPECT_TRUE(trace_.exists());
  EXPECT_EQ(looks_until_complete(), 0);
  write("fathom-attach-12-7.json", "]}\n");
  EXPECT_EQ(looks_until_complete(), 5);
}

TEST_F(KinetoTraceTest, OneThatStillGrowsIsNotComplete) {
  for (int look = 0; look < 10; ++look) {
    write("fathom-attach-12-7.json", "{}");
    EXPECT_FALSE(trace_.is_complete());
  }
}

TEST_F(KinetoTraceTest, AnEmptyFileIsNotComplete) {
  write("fathom-attach-12-7.json", "");
  EXPECT_EQ(looks_until_complete(), 0);
}

TEST_F(KinetoTraceTest, TheProcessNumberMayStandInTheName) {
  write("fathom-attach-12-7_12.json", "{}");
  EXPECT_GT(looks_until_complete(), 0);
  const std::string stored = (root_ / "stored.json").string();
  ASSERT_TRUE(trace_.move_to(stored));
  EXPECT_TRUE(fs::exists(stored));
  EXPECT_FALSE(trace_.exists());
}

TEST_F(KinetoTraceTest, WhatCannotBeStoredIsAnError) {
  write("fathom-attach-12-7.json", "{}");
  EXPECT_GT(looks_until_complete(), 0);
  const Result<void> moved = trace_.move_to((root_ / "missing" / "stored.json").string());
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace fathom::capture
