// Where recorded source files are found again, and what a hostile name does not reach.
#include "engine/inputs/source_root.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

namespace fs = std::filesystem;

class SourceRootTest : public testing::Test {
 public:
  SourceRootTest() {
    std::string pattern = (fs::temp_directory_path() / "fathom_sources_XXXXXX").string();
    base_ = mkdtemp(pattern.data());
    write("root/train.py", "of the root\n");
    write("root/models/net.py", "of models\n");
    write("root/net.py", "another\n");
    write("outside.py", "secret\n");
  }
  ~SourceRootTest() override { fs::remove_all(base_); }
  SourceRootTest(const SourceRootTest&) = delete;
  SourceRootTest& operator=(const SourceRootTest&) = delete;

 protected:
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((base_ / name).parent_path());
    std::ofstream(base_ / name, std::ios::binary) << text;
  }
  /// What is found of a file, with `before` = "OLD=" or "".
  [[nodiscard]] std::string text(std::string_view file, const std::string& before = {}) const {
    const Result<SourceRoot> root = SourceRoot::asked(before + (base_ / "root").string());
    if (!root) return root.error().message;
    return (*root).text(file).value_or("nothing");
  }

  fs::path base_;
};

TEST_F(SourceRootTest, TheLongestEndOfAPathCounts) {
  EXPECT_EQ(text("/home/me/project/train.py"), "of the root\n");
  EXPECT_EQ(text("/home/me/project/models/net.py"), "of models\n");
  EXPECT_EQ(text("/home/me/project/others/net.py"), "another\n");
  EXPECT_EQ(text("models/./net.py"), "of models\n");
  EXPECT_EQ(text("/home/me/project/test.py"), "nothing");
  EXPECT_EQ(text(""), "nothing");
  EXPECT_EQ(text("<string>"), "nothing");
}

TEST_F(SourceRootTest, AFormerFolderIsReplacedByTheNewOne) {
  EXPECT_EQ(text("/home/me/models/net.py", "/home/me="), "of models\n");
  EXPECT_EQ(text("/home/me/models/net.py", "/home/me/="), "of models\n");
  EXPECT_EQ(text("/home/me/project/net.py", "/home/me="), "nothing");
  EXPECT_EQ(text("/home/men/net.py", "/home/me="), "nothing");
  EXPECT_EQ(text("/home/me", "/home/me="), "nothing");
  EXPECT_EQ(text("/models/net.py", "/="), "of models\n");
}

TEST_F(SourceRootTest, NoNameLeadsOutOfTheFolder) {
  for (const std::string_view file :
       {"../outside.py", "/a/../../outside.py", "models/../../outside.py", "/..", "..", "/"}) {
    EXPECT_NE(text(file), "secret\n") << file;
    EXPECT_NE(text(file, "/="), "secret\n") << file;
  }
  EXPECT_EQ(text("../outside.py"), "nothing");
}

TEST_F(SourceRootTest, WhatIsNoFileOrTooLargeIsNotRead) {
  write("root/large.py", std::string((std::size_t{4} << 20U) + 1, 'x'));
  EXPECT_EQ(text("large.py"), "nothing");
  EXPECT_EQ(text("models"), "nothing");
  std::string deep;
  for (int part = 0; part < 5000; ++part) deep += "/d";
  EXPECT_EQ(text(deep + "/models/net.py"), "of models\n");
  EXPECT_EQ(text(deep + "/" + std::string(5000, 'n')), "nothing");
}

TEST_F(SourceRootTest, AFolderMayHaveAnEqualsSignInItsName) {
  write("a=b/x.py", "of it\n");
  const Result<SourceRoot> root = SourceRoot::asked((base_ / "a=b").string());
  ASSERT_TRUE(root);
  EXPECT_EQ((*root).text("/where/x.py"), "of it\n");
}

}  // namespace
}  // namespace fathom
