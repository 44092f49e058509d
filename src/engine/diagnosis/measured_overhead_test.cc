#include "engine/diagnosis/measured_overhead.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fathom {
namespace {

class MeasuredOverhead : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "/measured-overhead-" + test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& json) const {
    std::ofstream(folder_ + "/" + name) << json;
  }
  std::string folder_;
};

TEST_F(MeasuredOverhead, IsThatOfTheLowestRank) {
  put("process-7.json", R"({"pid": 7, "rank": 1, "overhead": {"ratio": 1.5}})");
  put("process-8.json", R"({"pid": 8, "rank": 0, "overhead": {"ratio": 1.25, "noise": null}})");
  EXPECT_EQ(measured_overhead(folder_), R"({"ratio":1.25,"noise":null})");
}

TEST_F(MeasuredOverhead, IsNothingWhereNothingWasRecorded) {
  put("process-7.json", R"({"pid": 7, "rank": -1, "overhead": {"ratio": null}})");
  put("process-8.json", R"({"pid": 8, "rank": -1})");
  put("process-9.json", "{ damaged");
  EXPECT_EQ(measured_overhead(folder_), "");
  EXPECT_EQ(measured_overhead(folder_ + "/absent"), "");
}

}  // namespace
}  // namespace fathom
