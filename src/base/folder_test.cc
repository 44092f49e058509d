#include "base/folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Folder, ListsFilesFoldersAndHiddenOnesOnce) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "folder_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "inner");
  std::ofstream(folder / "a file") << "";
  std::ofstream(folder / ".hidden") << "";
  std::error_code error = std::make_error_code(std::errc::io_error);
  std::vector<std::string> names = names_in(folder, error);
  EXPECT_FALSE(error);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{".hidden", "a file", "inner"}));
  EXPECT_TRUE(names_in(folder / "inner").empty());
  std::filesystem::remove_all(folder);
}

TEST(Folder, SaysWhyItCannotBeRead) {
  std::error_code error;
  EXPECT_TRUE(names_in("/no/such/folder", error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(names_in("/dev/null", error).empty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

}  // namespace
}  // namespace fathom
