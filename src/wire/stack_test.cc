// Stacks in a capture file: their frames are defined in the block that uses them.
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/wire_test_support.h"
#include "wire/writer.h"

namespace fathom::wire {
namespace {

StackRecord spent(std::int64_t time, std::int64_t on_cpu) {
  return {.time = time,
          .pid = 10,
          .tid = 11,
          .thread = "python",
          .frame = 0,
          .on_cpu = on_cpu,
          .queued = 2,
          .blocked = 3,
          .cause = "sleep",
          .object = "select"};
}

constexpr StackFrame kMain{.number = 1, .function = "main", .file = "a.py", .line = 3};
constexpr StackFrame kWork{.number = 2, .function = "work", .file = "a.py", .line = 9};

std::string written(const WriterOptions& options, const auto& write) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  Result<std::unique_ptr<Writer>> writer = Writer::open(path, options);
  if (!writer) throw std::runtime_error(writer.error().message);
  write(**writer);
  (*writer)->close();
  return bytes_of(path);
}

TEST(Stacks, AreReadBackWithTheirFrames) {
  ReadBack back;
  const std::string bytes = written({}, [](Writer& writer) {
    writer.stack(spent(100, 7), std::vector{kMain, kWork});
    writer.stack(spent(200, 8), std::vector{kMain});
    writer.stack(spent(300, 9), {});
    writer.stack(spent(400, 1), std::vector{kMain, kWork});
  });
  read_back(bytes, back);
  const std::vector<std::string> expected = {
      "stack 100 10 11 python main@a.py:3;work@a.py:9 7 2 3 sleep select",
      "stack 200 10 11 python main@a.py:3 8 2 3 sleep select",
      "stack 300 10 11 python - 9 2 3 sleep select",
      "stack 400 10 11 python main@a.py:3;work@a.py:9 1 2 3 sleep select"};
  EXPECT_EQ(back.listing.of("stack"), expected);
  EXPECT_EQ(back.listing.stacks.size(), 2U) << "each frame is written once in a block";
  EXPECT_EQ(back.damage.texts.count, 0U);
}

TEST(Stacks, EachBlockDefinesTheFramesThatItUses) {
  ReadBack back;
  const std::string bytes = written({.block_bytes = 700}, [](Writer& writer) {
    for (int i = 0; i < 300; ++i) {
      const StackFrame leaf{.number = 3U + static_cast<std::uint32_t>(i % 5),
                            .function = "leaf",
                            .file = "b.py",
                            .line = i % 5};
      writer.stack(spent(i, i), std::vector{kMain, kWork, leaf});
    }
  });
  read_back(bytes, back);
  const std::vector<std::string> stacks = back.listing.of("stack");
  ASSERT_EQ(stacks.size(), 300U);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    EXPECT_EQ(stacks[i], "stack " + std::to_string(i) +
                             " 10 11 python main@a.py:3;work@a.py:9;"
                             "leaf@b.py:" +
                             std::to_string(i % 5) + " " + std::to_string(i) + " 2 3 sleep select");
  }
  EXPECT_EQ(back.damage.texts.count, 0U);
  EXPECT_GT(back.listing.stacks.size(), 7U) << "more than one block";
}

TEST(Stacks, ADeepOneLosesOuterFramesAndNoTime) {
  constexpr std::uint32_t kDepth = 20'000;
  ReadBack back;
  const std::string bytes = written({}, [](Writer& writer) {
    std::vector<StackFrame> frames;
    for (std::uint32_t i = 0; i < kDepth; ++i)
      frames.push_back({.number = i, .function = "f", .file = "a.py", .line = 1});
    frames.push_back({.number = kDepth, .function = "leaf", .file = "a.py", .line = 2});
    writer.stack(spent(1, 5), frames);
    writer.stack(spent(2, 6), std::vector{kMain});
  });
  read_back(bytes, back);
  const std::vector<std::string> stacks = back.listing.of("stack");
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_NE(stacks[0].find(";leaf@a.py:2 5 2 3"), std::string::npos);
  EXPECT_LT(back.listing.stacks.size(), kDepth);
  EXPECT_EQ(back.damage.texts.count, 0U);
}

TEST(Stacks, BeyondTheSizeCapTheyAreCounted) {
  ReadBack back;
  const std::string bytes =
      written({.max_size_bytes = std::uint64_t{256} << 10}, [](Writer& writer) {
        for (int i = 0; i < 20'000; ++i) writer.stack(spent(i, i), std::vector{kMain});
      });
  read_back(bytes, back);
  EXPECT_LT(back.listing.of("stack").size(), 20'000U);
  EXPECT_FALSE(back.listing.of("dropped").empty());
}

}  // namespace
}  // namespace fathom::wire
