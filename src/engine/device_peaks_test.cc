// Devices by name and from files.
#include "engine/device_peaks.h"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// A file for the time of a test.
class File {
 public:
  explicit File(const std::string& content)
      : path_(testing::TempDir() + "device_peaks_test." +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".json") {
    std::ofstream(path_) << content;
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string problem(const std::string& name) {
  const Result<DevicePeaks> peaks = DevicePeaks::asked(name);
  return peaks ? "" : peaks.error().message;
}

TEST(DevicePeaks, aKnownDeviceIsFoundByName) {
  const Result<DevicePeaks> peaks = DevicePeaks::asked("h100 sxm");
  ASSERT_TRUE(peaks);
  EXPECT_EQ(peaks->chosen()->name, "H100 SXM");
}

TEST(DevicePeaks, aFileDescribesAnother) {
  const File file(R"({"name": "mine", "fp32": 2e13, "bf16_matrix": 1e14, "bandwidth": 1e12,
                      "l2": 50000000, "sms": 64, "source": "measured"})");
  Result<DevicePeaks> read = DevicePeaks::asked(file.path());
  ASSERT_TRUE(read);
  const DevicePeaks peaks = std::move(*read);
  ASSERT_NE(peaks.chosen(), nullptr);
  EXPECT_EQ(peaks.chosen()->name, "mine");
  EXPECT_EQ(peaks.chosen()->bf16_matrix, 1e14);
  EXPECT_EQ(peaks.chosen()->sms, 64);
  EXPECT_EQ(peaks.chosen()->l2, 50'000'000);
}

TEST(DevicePeaks, aMisspelledNameSuggestsTheNearest) {
  EXPECT_NE(problem("MI300Y").find("did you mean 'MI3"), std::string::npos);
  EXPECT_NE(problem("nonsense that is far away").find("A100"), std::string::npos);
}

TEST(DevicePeaks, aWrongFileSaysWhatIsWrong) {
  EXPECT_NE(problem(File("{").path()).find("JSON"), std::string::npos);
  EXPECT_NE(problem(File("[]").path()).find("lists no device"), std::string::npos);
  EXPECT_NE(problem(File("3").path()).find("does not describe"), std::string::npos);
  EXPECT_NE(problem(File(R"({"name": "x", "fp23": 1})").path()).find("fp23"), std::string::npos);
  EXPECT_NE(problem(File(R"({"name": "x", "fp32": -1})").path()).find("fp32"), std::string::npos);
  EXPECT_NE(problem(File(R"({"name": 3})").path()).find("not a text"), std::string::npos);
  EXPECT_NE(problem(File(R"({"name": "x"})").path()).find("at least"), std::string::npos);
}

}  // namespace
}  // namespace fathom
