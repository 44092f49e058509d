// The share of a file that was read, as it lies on the disk.
#include "base/read_progress.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/byte_source.h"

namespace fathom {
namespace {

std::string file_of(std::size_t bytes) {
  // Tests run in processes of their own, at the same time.
  std::string path = testing::TempDir() + "read_progress_" + std::to_string(getpid());
  std::ofstream(path) << std::string(bytes, 'x');
  return path;
}

TEST(ReadProgress, FollowsTheBytesOfAFile) {
  ReadProgress progress;
  EXPECT_EQ(progress.share(), std::nullopt);
  const WatchedReading watched(progress);
  auto source = open_source(file_of(1'000'000));
  ASSERT_TRUE(source);
  std::vector<std::byte> buffer(500'000);
  ASSERT_TRUE((*source)->read(buffer));
  EXPECT_NEAR(progress.share().value_or(-1), 0.5, 0.05);
  ASSERT_TRUE((*source)->read(buffer));
  EXPECT_DOUBLE_EQ(progress.share().value_or(-1), 1);
}

TEST(ReadProgress, IsThatOfFilesOpenedWhileItIsWatched) {
  ReadProgress progress;
  { const WatchedReading watched(progress); }
  ASSERT_TRUE(open_source(file_of(1000)));
  EXPECT_EQ(progress.share(), std::nullopt);
}

}  // namespace
}  // namespace fathom
