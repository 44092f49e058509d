// Plain files and memory: what comes out is what lay there, and errors say what to do.
#include "base/byte_source.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/read_progress.h"

namespace fathom {
namespace {

/// A file of the given contents, gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "byte_source_XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor >= 0) close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_all(ByteSource& source, std::size_t block) {
  std::string all;
  std::vector<std::byte> buffer(block);
  for (;;) {
    const Result<std::size_t> got = source.read(buffer);
    if (!got) return "error: " + got.error().message;
    all.append(reinterpret_cast<const char*>(buffer.data()), *got);
    if (*got < block) return all;
  }
}

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ',';
  return text;
}

TEST(ByteSource, FileIsReadWholeInBlocksOfAnySize) {
  const std::string text = numbers(20000);
  const TemporaryFile file(text);
  for (const std::size_t block : {std::size_t{1000}, kSniffBytes, std::size_t{1} << 20}) {
    const auto source = open_source(file.path());
    ASSERT_TRUE(source.ok());
    EXPECT_EQ(read_all(**source, block), text);
    EXPECT_EQ((*source)->damage(), "");
    EXPECT_EQ((*source)->compression(), "");
  }
}

TEST(ByteSource, HeadShowsTheFirstBytesAndConsumesNothing) {
  const std::string text = numbers(20000);
  const TemporaryFile file(text);
  const auto source = open_source(file.path());
  ASSERT_TRUE(source.ok());
  const auto head = (*source)->head();
  ASSERT_EQ(head.size(), kSniffBytes);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(head.data()), head.size()),
            text.substr(0, kSniffBytes));
  EXPECT_EQ(read_all(**source, 777), text);
}

TEST(ByteSource, EmptyFileIsAnEmptyStream) {
  const TemporaryFile file("");
  const auto source = open_source(file.path());
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE((*source)->head().empty());
  EXPECT_EQ(read_all(**source, 10), "");
}

TEST(ByteSource, MemoryIsReadAsIfFromAFile) {
  const std::string text = numbers(3000);
  const auto source = open_bytes(std::as_bytes(std::span(text)));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->head().size(), kSniffBytes);
  EXPECT_EQ(read_all(**source, 999), text);
}

TEST(ByteSource, PipeIsReadToItsEndAlthoughItComesInPieces) {
  const std::string text = numbers(5000);
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (std::size_t at = 0; at < text.size(); at += 1000) {
      if (write(ends[1], text.data() + at, std::min<std::size_t>(1000, text.size() - at)) < 0)
        break;
    }
    _exit(0);
  }
  close(ends[1]);
  const auto source = open_source("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(read_all(**source, std::size_t{1} << 20), text);
  close(ends[0]);
}

TEST(ByteSource, AShortInputIsReadIntoAShortBuffer) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const auto size_for = [](std::size_t bytes) {
    const std::string text(bytes, 'x');
    const auto source = open_bytes(std::as_bytes(std::span(text)));
    return read_size(**source, kMost);
  };
  EXPECT_EQ(size_for(0), 1U);
  EXPECT_EQ(size_for(100), 101U);  // one more than there is: then the end is seen
  EXPECT_EQ(size_for(kSniffBytes - 1), kSniffBytes);
  EXPECT_EQ(size_for(kSniffBytes), kMost);
}

TEST(ExpectedFiles, AreAnnouncedAtOnceAndTheShareNeverGoesBack) {
  const TemporaryFile first(std::string(100, 'x'));
  const TemporaryFile second(std::string(300, 'x'));
  const TemporaryFile other(std::string(1000, 'x'));
  ReadProgress progress;
  const WatchedReading watched(progress);
  const std::vector<std::string> paths = {first.path(), second.path(), "/no/such/trace.json"};
  ExpectedFiles expected(paths);
  ASSERT_TRUE(open_source(first.path()).ok());
  EXPECT_DOUBLE_EQ(progress.share().value_or(-1), 0.25);
  ASSERT_TRUE(open_source(other.path()).ok());
  expected.done(first.path());
  EXPECT_DOUBLE_EQ(progress.share().value_or(-1), 0.25);
  expected.done(second.path());
  EXPECT_DOUBLE_EQ(progress.share().value_or(-1), 1);
}

TEST(ByteSource, MissingFileSaysSoWithItsName) {
  const auto source = open_source("/no/such/trace.json");
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::not_found);
  EXPECT_NE(source.error().message.find("/no/such/trace.json: no such file"), std::string::npos);
}

TEST(ByteSource, DirectoryIsRefusedWithARemedy) {
  const auto source = open_source(std::filesystem::temp_directory_path().string());
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("is a directory; name a trace file in it"),
            std::string::npos);
}

TEST(ByteSource, UnreadableFileIsRefusedWithARemedy) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFile file("x");
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  const auto source = open_source(file.path());
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("chmod +r"), std::string::npos);
}

}  // namespace
}  // namespace fathom
