// What a page asked for first is there the next time, and only what may be.
#include "server/kept_screen.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;

class KeptScreens : public testing::Test {
 public:
  KeptScreens() {
    std::string pattern = (fs::temp_directory_path() / "fathom_screen_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("FATHOM_CACHE", (folder_ / "cache").c_str(), 1);
    setenv("FATHOM_CACHE_FROM", "1", 1);
    std::ofstream(folder_ / "trace.json") << "{}";
    while (!cache().keeps()) {  // until its times are old enough
    }
  }
  ~KeptScreens() override {
    unsetenv("FATHOM_CACHE");
    unsetenv("FATHOM_CACHE_FROM");
    fs::remove_all(folder_);
  }
  KeptScreens(const KeptScreens&) = delete;
  KeptScreens& operator=(const KeptScreens&) = delete;

 protected:
  [[nodiscard]] TraceCache cache() const { return TraceCache((folder_ / "trace.json").string()); }

  fs::path folder_;
};

TEST_F(KeptScreens, WhatWasAskedWhileItIsDrawnIsWrittenLaterAndFoundTheNextTime) {
  const TraceCache first = cache();
  KeptScreen screen(&first);
  screen.keep("api/tracks", json_response("[1]"));
  screen.keep("api/tiles/1", tiles_response("FTT1"));
  const TraceCache second = cache();
  EXPECT_FALSE(KeptScreen(&second).find("api/tracks"));
  screen.write();
  screen.keep("api/names", json_response("[2]"));  // from now on at once

  const KeptScreen again(&second);
  ASSERT_TRUE(again.find("api/tracks"));
  EXPECT_EQ(again.find("api/tracks")->body, "[1]");
  EXPECT_EQ(again.find("api/tracks")->type, "application/json");
  EXPECT_FALSE(again.find("api/tracks")->immutable);
  ASSERT_TRUE(again.find("api/tiles/1"));
  EXPECT_EQ(again.find("api/tiles/1")->body, "FTT1");
  EXPECT_EQ(again.find("api/tiles/1")->type, "application/octet-stream");
  EXPECT_TRUE(again.find("api/tiles/1")->immutable);
  EXPECT_TRUE(again.find("api/names"));
  EXPECT_FALSE(again.find("api/tiles/2"));
}

TEST_F(KeptScreens, WhatIsNoWholeAnswerIsNotKept) {
  const TraceCache place = cache();
  KeptScreen screen(&place);
  screen.write();
  Response packed = json_response("packed");
  packed.gzipped = true;
  screen.keep("packed", packed);
  screen.keep("error", error_response(404, "not_found", "nothing"));
  screen.keep("huge", json_response(std::string(std::size_t{17} << 20, 'x')));
  EXPECT_FALSE(screen.find("packed"));
  EXPECT_FALSE(screen.find("error"));
  EXPECT_FALSE(screen.find("huge"));
}

TEST_F(KeptScreens, OnlySoManyAnswersAreOfTheFirstScreen) {
  const TraceCache place = cache();
  KeptScreen screen(&place);
  screen.write();
  for (int i = 0; i < 100; ++i) screen.keep(std::to_string(i), json_response("[]"));
  EXPECT_TRUE(screen.find("0"));
  EXPECT_FALSE(screen.find("99"));
}

TEST_F(KeptScreens, WhatIsDamagedOrOfAnotherFileIsNotFound) {
  const TraceCache place = cache();
  KeptScreen screen(&place);
  screen.write();
  screen.keep("api/tracks", json_response("[1]"));
  for (const fs::directory_entry& each : fs::directory_iterator(folder_ / "cache")) {
    std::fstream file(each.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  EXPECT_FALSE(screen.find("api/tracks"));
  screen.keep("api/tracks", json_response("[1]"));
  EXPECT_TRUE(screen.find("api/tracks"));
  std::ofstream(folder_ / "trace.json") << "{} ";
  while (!cache().keeps()) {
  }
  const TraceCache changed = cache();
  EXPECT_FALSE(KeptScreen(&changed).find("api/tracks"));
}

TEST(KeptScreen, WithoutAPlaceNothingIsKept) {
  KeptScreen screen(nullptr);
  EXPECT_FALSE(screen.keeps());
  screen.keep("api/tracks", json_response("[1]"));
  screen.write();
  EXPECT_FALSE(screen.find("api/tracks"));
}

}  // namespace
}  // namespace fathom::server
