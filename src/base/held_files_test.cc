#include "base/held_files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/byte_source.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class HeldFilesTest : public ::testing::Test {
 protected:
  HeldFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "fathom_held_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~HeldFilesTest() override { fs::remove_all(folder_); }

  std::string write(const char* name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  static std::string rest_of(const Descriptor& file) {
    std::array<char, 64> bytes{};
    const ssize_t got = read(file.get(), bytes.data(), bytes.size());
    return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

 private:
  fs::path folder_;
};

TEST_F(HeldFilesTest, AFileIsTakenOnceAndFromItsBegin) {
  const std::string path = write("a", "one two");
  HeldFiles held;
  EXPECT_EQ(text_of(held.head(path, 3)), "one");
  const Descriptor file = held.take(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(rest_of(file), "one two");
  EXPECT_FALSE(held.take(path));
}

TEST_F(HeldFilesTest, AShortFileHasAShortHeadAndAMissingOneNone) {
  HeldFiles held;
  EXPECT_EQ(text_of(held.head(write("a", "one"), 100)), "one");
  const std::string missing = write("b", "") + ".missing";
  EXPECT_TRUE(held.head(missing, 100).empty());
  EXPECT_FALSE(held.take(missing));
}

TEST_F(HeldFilesTest, WhatTookAFilesPlaceIsNotMistakenForIt) {
  const std::string path = write("a", "old");
  HeldFiles held;
  EXPECT_EQ(text_of(held.head(path, 3)), "old");
  fs::rename(write("b", "new"), path);
  EXPECT_FALSE(held.take(path));
  EXPECT_EQ(text_of(held.head(path, 3)), "new");
  fs::remove(path);
  EXPECT_FALSE(held.take(path));
}

TEST_F(HeldFilesTest, WhatThereIsNoRoomForIsLookedAtAllTheSame) {
  const std::string first = write("a", "one");
  const std::string second = write("b", "two");
  HeldFiles held(1);
  EXPECT_EQ(text_of(held.head(first, 3)), "one");
  EXPECT_EQ(text_of(held.head(second, 3)), "two");
  EXPECT_FALSE(held.take(second));
  EXPECT_TRUE(held.take(first));
}

TEST_F(HeldFilesTest, AllTogetherHoldNoMoreThanAQuarterOfWhatMayBeOpen) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::string first = write("a", "one");
  const std::string second = write("b", "two");
  const rlimit few{.rlim_cur = 4 + 3, .rlim_max = limit.rlim_max};
  HeldFiles held;
  HeldFiles other;
  EXPECT_EQ(text_of(held.head(first, 3)), "one");
  EXPECT_TRUE(held.take(first)) << "room is given back";
  EXPECT_EQ(text_of(held.head(first, 3)), "one");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  other.head(second, 3);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(other.take(second));
  EXPECT_TRUE(held.take(first));
}

TEST_F(HeldFilesTest, ASourceReadsTheFileThatIsHeld) {
  const std::string path = write("a", "one two");
  HeldFiles held;
  EXPECT_EQ(held.head(path, 3).size(), 3U);
  for (int time = 0; time < 2; ++time) {  // held, then opened by its path
    const auto source = open_source(path, &held);
    ASSERT_TRUE(source);
    std::array<std::byte, 64> bytes{};
    const Result<std::size_t> got = (*source)->read(bytes);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 7U);
    EXPECT_FALSE(held.take(path));
  }
}

}  // namespace
}  // namespace fathom
