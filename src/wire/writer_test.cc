#include "wire/writer.h"

#include <cmath>
#include <csignal>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "wire/wire_test_support.h"

namespace fathom::wire {
namespace {

std::unique_ptr<Writer> open_or_die(const std::string& path, const WriterOptions& options = {}) {
  Result<std::unique_ptr<Writer>> writer = Writer::open(path, options);
  if (!writer) throw std::runtime_error(writer.error().message);
  return std::move(*writer);
}

TEST(Writer, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  writer->process(1, 10, 9, 3, "python train.py", "rank");
  writer->thread(10, 11, "main");
  writer->slice(100, 50, 10, 11, "forward", "annotation");
  writer->slice(150, 5, 10, 11, "step", "step", 7);
  writer->begin(160, 10, 11, "outer", "phase");
  writer->end(170, 10, 11);
  writer->instant(180, 10, 11, "here", "mark");
  const std::uint32_t power = writer->counter(0, 1, "power", "watts");
  writer->sample(190, power, 250.5);
  writer->fact(10, "torch_version", "2.9.0");
  writer->exit({.time = 200, .pid = 10, .status = 9, .user = 1, .system = 2, .peak = 3, .wall = 4});
  writer->dropped("lines", 12);
  writer->function(
      {.pid = 10, .file = "a.py", .line = 3, .name = "f", .calls = 2, .total = 9, .self = 4});
  writer->line({.pid = 10,
                .file = "a.py",
                .first = 4,
                .last = 5,
                .function = "f",
                .function_line = 3,
                .hits = 6,
                .total = 8,
                .self = 7});
  writer->line_run({.start = 210,
                    .duration = 4,
                    .pid = 10,
                    .tid = 11,
                    .file = "a.py",
                    .first = 4,
                    .function = "f"});
  writer->function_part({.start = 150,
                         .duration = 5,
                         .pid = 10,
                         .step = 7,
                         .file = "a.py",
                         .line = 3,
                         .name = "f",
                         .calls = 1,
                         .total = 4,
                         .self = 2});
  writer->line_part({.start = 150,
                     .duration = 5,
                     .pid = 10,
                     .step = 7,
                     .file = "a.py",
                     .first = 4,
                     .last = 5,
                     .function = "f",
                     .function_line = 3,
                     .hits = 2,
                     .total = 3,
                     .self = 1});
  writer->function_calls({.pid = 10,
                          .file = "a.py",
                          .line = 3,
                          .name = "f",
                          .caller_file = "b.py",
                          .caller_line = 6,
                          .caller_name = "g",
                          .calls = 2,
                          .primitive = 1,
                          .total = 9,
                          .self = 4});
  EXPECT_FALSE(writer->close());  // 12 lines are missing, says the caller
  ReadBack back;
  read_back(bytes_of(path), back);
  std::vector<std::string> lines = back.listing.lines;
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("clock "); });
  const std::vector<std::string> expected = {"process 1 10 9 3 python train.py rank",
                                             "thread 10 11 main",
                                             "slice 100 50 10 11 forward annotation -1",
                                             "slice 150 5 10 11 step step 7",
                                             "begin 160 10 11 outer phase",
                                             "end 170 10 11",
                                             "instant 180 10 11 here mark",
                                             "counter 0 1 power watts",
                                             "sample 190 1 250.500000",
                                             "fact 10 torch_version 2.9.0",
                                             "exit 200 10 9 1 2 3 4 -1 -1",
                                             "dropped lines 12",
                                             "function 10 a.py 3 f 2 9 4",
                                             "line 10 a.py 4 5 f 3 6 8 7",
                                             "line_run 210 4 10 11 a.py 4 f",
                                             "function_part 150 5 10 7 a.py 3 f 1 4 2",
                                             "line_part 150 5 10 7 a.py 4 5 f 3 2 3 1",
                                             "function_calls 10 a.py 3 f b.py 6 g 2 1 9 4"};
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(back.damage.skipped.count + back.damage.cut_off.count + back.damage.missing.count, 0U);
}

TEST(Writer, EveryBlockStandsAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path, {.block_bytes = 600});
  const std::uint32_t counter = writer->counter(0, -1, "load", "percent");
  for (int i = 0; i < 200; ++i) {
    writer->slice(i, 1, 1, 1, "name " + std::to_string(i % 3), "annotation");
    writer->sample(i, counter, i);
  }
  EXPECT_TRUE(writer->close());
  const std::string bytes = bytes_of(path);
  std::size_t blocks = 0;
  for (std::size_t at = bytes.find("FBLK"); at != std::string::npos; ++blocks) {
    const std::size_t next = bytes.find("FBLK", at + 1);
    ReadBack back;
    read_back(std::string(kMagic) + bytes.substr(at, next - at), back);
    EXPECT_EQ(back.damage.texts.count, 0U);
    EXPECT_EQ(back.listing.of("clock").size(), 1U);
    at = next;
  }
  EXPECT_GT(blocks, 10U);
}

TEST(Writer, ABlockThatIsOldGoesWithTheNextRecord) {
  const TemporaryFolder folder;
  auto writer = open_or_die(folder.file("a.fathom"));
  const std::int64_t now = monotonic_ns();
  writer->instant(now, 1, 1, "first", "");
  EXPECT_EQ(writer->bytes_written(), kMagic.size());
  writer->instant(now + 600'000'000, 1, 1, "second", "");
  EXPECT_GT(writer->bytes_written(), kMagic.size());
}

TEST(Writer, ASampleThatBeginsABlockFindsItsCounterThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  const std::uint32_t counter = writer->counter(0, -1, "load", "percent");
  const std::int64_t now = monotonic_ns();
  for (int i = 0; i < 20; ++i) writer->sample(now + i * std::int64_t{200'000'000}, counter, i);
  EXPECT_TRUE(writer->close());
  ReadBack back;
  read_back(bytes_of(path), back);
  EXPECT_EQ(back.damage.texts.count, 0U);
  EXPECT_EQ(back.listing.of("sample").size(), 20U);
}

TEST(Writer, ABlockThatIsOldGoesWhenAskedFor) {
  const TemporaryFolder folder;
  auto writer = open_or_die(folder.file("a.fathom"));
  const std::int64_t now = monotonic_ns();
  writer->instant(now, 1, 1, "first", "");
  writer->flush_if_old(now + 1000);
  EXPECT_EQ(writer->bytes_written(), kMagic.size());
  writer->flush_if_old(now + 600'000'000);
  EXPECT_GT(writer->bytes_written(), kMagic.size());
}

TEST(Writer, WhatTheSizeCapRefusesIsCountedInTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path, {.block_bytes = 1024, .max_size_bytes = 300'000});
  for (int i = 0; i < 20'000; ++i) writer->slice(i, 1, 1, 1, "name", "annotation");
  writer->exit({.time = 9, .pid = 1, .status = 0});
  EXPECT_FALSE(writer->close());
  const std::string bytes = bytes_of(path);
  EXPECT_LE(bytes.size(), 300'000U);
  ReadBack back;
  read_back(bytes, back);
  const std::size_t kept = back.listing.of("slice").size();
  EXPECT_GT(kept, 1000U);
  EXPECT_EQ(back.listing.of("exit").size(), 1U);
  ASSERT_EQ(back.listing.of("dropped").size(), 1U);
  EXPECT_EQ(back.listing.of("dropped").front(),
            "dropped records beyond the size cap " + std::to_string(20'000 - kept));
  EXPECT_EQ(writer->dropped_records(), 20'000 - kept);
}

TEST(Writer, WhatWasNotHandedOverWhenItIsAbandonedIsNotWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  writer->slice(1, 1, 1, 1, "written", "annotation");
  EXPECT_TRUE(writer->flush());
  writer->slice(2, 1, 1, 1, "another's", "annotation");
  writer->abandon();
  writer.reset();
  ReadBack back;
  read_back(bytes_of(path), back);
  EXPECT_EQ(back.listing.of("slice").size(), 1U);
}

TEST(Writer, TheSystemsLimitOfFileSizesIsASizeCap) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = open_or_die(path, {.block_bytes = 1024});
    for (int i = 0; i < 20'000; ++i) writer->slice(i, 1, 1, 1, "name", "annotation");
    _exit(!writer->close() && writer->dropped_records() > 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);  // above all: no SIGXFSZ
  ReadBack back;
  read_back(bytes_of(path), back);
  EXPECT_GT(back.listing.of("slice").size(), 500U);
  ASSERT_EQ(back.listing.of("dropped").size(), 1U);
  EXPECT_TRUE(back.listing.of("dropped").front().starts_with(
      "dropped records beyond the limit of file sizes (ulimit -f) "));
}

TEST(Writer, ALimitOfFileSizesThatLeavesNoRoomEndsNoProgram) {
  const TemporaryFolder folder;
  for (const rlim_t most : {rlim_t{0}, rlim_t{100}, rlim_t{20'000}}) {
    const std::string path = folder.file("a" + std::to_string(most) + ".fathom");
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit{most, most};
      setrlimit(RLIMIT_FSIZE, &limit);
      auto writer = Writer::open(path, {.block_bytes = 1024});
      if (!writer) _exit(0);
      for (int i = 0; i < 2000; ++i) (*writer)->slice(i, 1, 1, 1, "name", "annotation");
      for (int i = 0; i < 2000; ++i) (*writer)->fact(1, "key" + std::to_string(i), "value");
      _exit((*writer)->close() ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << most;
  }
}

TEST(Writer, AFullDiskIsCountedAndEarlierBlocksStay) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);  // write() then answers as a full disk does: short, then an error
    auto writer = open_or_die(path, {.block_bytes = 5000});
    const rlimit limit{100'000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 10'000; ++i) writer->slice(i, 1, 1, 1, "name", "annotation");
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    writer->instant(1, 1, 1, "room again", "");
    _exit(!writer->close() && writer->dropped_records() > 5'000 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ReadBack back;
  read_back(bytes_of(path), back);
  EXPECT_EQ(back.damage.skipped.count, 0U);  // the half block was taken back
  EXPECT_GT(back.damage.missing.count, 10U);
  EXPECT_GT(back.listing.of("slice").size(), 1000U);
  EXPECT_EQ(back.listing.of("instant").size(), 1U);
  ASSERT_EQ(back.listing.of("dropped").size(), 1U);
  EXPECT_TRUE(back.listing.of("dropped").front().starts_with(
      "dropped records beyond the limit of file sizes"));
}

TEST(Writer, InAForkedProcessItDoesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  writer->instant(1, 1, 1, "parent's", "");
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10'000; ++i) writer->instant(2, 1, 1, "child's", "");
    writer->flush();
    writer.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(writer->close());
  ReadBack back;
  read_back(bytes_of(path), back);
  EXPECT_EQ(back.listing.of("instant").size(), 1U);
}

TEST(Writer, SeveralThreadsShareIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path, {.block_bytes = 4096});
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&writer, t] {
        for (int i = 0; i < 5000; ++i)
          writer->slice(i, 1, 1, t, "name " + std::to_string(i % 50), "annotation", i);
      });
    }
  }
  EXPECT_TRUE(writer->close());
  ReadBack back;
  read_back(bytes_of(path), back);
  const std::vector<std::string> slices = back.listing.of("slice");
  EXPECT_EQ(std::set<std::string>(slices.begin(), slices.end()).size(), 20'000U);
  EXPECT_EQ(back.damage.malformed.count + back.damage.texts.count, 0U);
}

TEST(Writer, LongTextsAreCutWhereACharacterBegins) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  std::string text;
  while (text.size() < 100'000) text += "ä";
  writer->fact(1, text, text + "b");
  EXPECT_TRUE(writer->close());
  ReadBack back;
  read_back(bytes_of(path), back);
  ASSERT_EQ(back.listing.of("fact").size(), 1U);
  const std::string line = back.listing.of("fact").front();
  EXPECT_GT(line.size(), 131'000U);
  EXPECT_EQ(line.size() % 2, std::string("fact 1  ").size() % 2);
}

TEST(Writer, SamplesOfNoCounterOrWithoutAValueAreIgnored) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  auto writer = open_or_die(path);
  writer->sample(1, 0, 1.0);
  writer->sample(1, 7, 1.0);
  writer->sample(1, writer->counter(0, -1, "c", ""), std::nan(""));
  EXPECT_TRUE(writer->close());
  EXPECT_EQ(bytes_of(path), kMagic);
}

TEST(Writer, WhereNothingCanBeWrittenOpenSaysSo) {
  const Result<std::unique_ptr<Writer>> writer = Writer::open("/proc/no/such/folder.fathom");
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("/proc/no/such/folder.fathom"), std::string::npos);
}

TEST(Writer, ARingKeepsTheLastSecondsAndRepeatsWhoIsWho) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.fathom");
  // A ring of 0 seconds and a bit: each block turns it.
  auto writer = open_or_die(path, {.block_bytes = 1024, .last_ns = 1});
  writer->process(1, 10, 9, -1, "python", "main");
  writer->fact(10, "key", "value");
  for (int i = 0; i < 1000; ++i) writer->slice(i, 1, 10, 10, "s", "annotation", i);
  EXPECT_TRUE(writer->close());
  ReadBack older;
  ReadBack newer;
  read_back(bytes_of(older_path(path)), older);
  read_back(bytes_of(path), newer);
  EXPECT_EQ(older.listing.of("process").size(), 1U);
  EXPECT_EQ(newer.listing.of("process").size(), 1U);
  EXPECT_EQ(newer.listing.of("fact").size(), 1U);
  EXPECT_GT(newer.damage.first_number, 10U);
  const std::vector<std::string> last = newer.listing.of("slice");
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back(), "slice 999 1 10 10 s annotation 999");
  // What the older half ends with, the newer begins after.
  EXPECT_EQ(older.listing.of("slice").size() + last.size() +
                static_cast<std::size_t>(std::stoi(older.listing.of("slice").front().substr(6))),
            1000U);
  EXPECT_EQ(older_path("x/a.fathom"), "x/a.older.fathom");
}

}  // namespace
}  // namespace fathom::wire
