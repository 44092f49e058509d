#include "engine/inputs/inputs.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// A folder of empty files that goes away with the test.
class InputsTest : public testing::Test {
 protected:
  InputsTest() {
    std::string pattern = (fs::temp_directory_path() / "fathom_inputs_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~InputsTest() override { fs::remove_all(folder_); }

  void touch(const std::string& name) const { std::ofstream(folder_ / name); }
  /// The files that the arguments (relative to the folder) stand for, without the folder.
  std::string expand(std::vector<std::string> arguments, bool* several = nullptr) const {
    for (std::string& argument : arguments) {
      if (argument != "-") argument = (folder_ / argument).string();
    }
    const Result<Inputs> inputs = expand_inputs(arguments);
    if (!inputs) return "error";
    if (several != nullptr) *several = inputs->several;
    std::string names;
    for (const Inputs::File& file : inputs->files)
      names += fs::path(file.path).filename().string() + " ";
    return names;
  }

  fs::path folder_;
};

TEST_F(InputsTest, FilesOfADirectoryComeInNaturalOrderWithoutHiddenOnes) {
  for (const char* name : {"rank10.json", "rank2.json", "rank0.json", ".hidden"}) touch(name);
  fs::create_directory(folder_ / "below");
  bool several = false;
  EXPECT_EQ(expand({"."}, &several), "rank0.json rank2.json rank10.json ");
  EXPECT_TRUE(several);
}

TEST_F(InputsTest, OneNamedFileIsOneInput) {
  touch("a.json");
  bool several = true;
  EXPECT_EQ(expand({"a.json"}, &several), "a.json ");
  EXPECT_FALSE(several);
  EXPECT_EQ(expand({"-"}), "- ");
}

TEST_F(InputsTest, APatternStandsForItsFilesEvenIfItIsOne) {
  touch("a.json");
  touch("b.txt");
  bool several = false;
  EXPECT_EQ(expand({"*.json"}, &several), "a.json ");
  EXPECT_TRUE(several);
}

TEST_F(InputsTest, AFileWhoseNameLooksLikeAPatternIsThatFile) {
  touch("a[1].json");
  EXPECT_EQ(expand({"a[1].json"}), "a[1].json ");
}

TEST_F(InputsTest, NothingThereIsAnErrorThatSuggestsANeighbour) {
  touch("trace.json");
  EXPECT_EQ(expand({"*.gz"}), "error");
  const Result<Inputs> inputs =
      expand_inputs(std::vector<std::string>{(folder_ / "trcae.json").string()});
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("did you mean " + (folder_ / "trace.json").string()),
            std::string::npos);
}

TEST_F(InputsTest, AnotherFileOfTheSameKindIsNoNeighbour) {
  touch("o.json");
  const Result<Inputs> inputs =
      expand_inputs(std::vector<std::string>{(folder_ / "nope.json").string()});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().message.find("did you mean"), std::string::npos);
}

TEST_F(InputsTest, AnEmptyDirectoryIsAnError) { EXPECT_EQ(expand({"."}), "error"); }

TEST_F(InputsTest, ADirectoryOfDirectoriesIsAnErrorThatSaysHowToNameTheirFiles) {
  fs::create_directory(folder_ / "rank0");
  const Result<Inputs> inputs = expand_inputs(std::vector<std::string>{folder_.string()});
  ASSERT_FALSE(inputs);
  EXPECT_NE(inputs.error().message.find("write '" + (folder_ / "*" / "*").string() + "'"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
