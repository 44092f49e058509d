// An image gives back all that was written; a damaged, shortened or foreign one gives back nothing.
#include "store/image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/block_sum.h"
#include "store/digest.h"
#include "store/image_layout.h"
#include "store/parts.h"
#include "store/trace_builder.h"
#include "store/validate.h"

namespace fathom {
namespace {

/// A file that is gone when it is closed.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom_image_XXXXXX").string();
    file_ = mkstemp(pattern.data());
    unlink(pattern.c_str());
  }
  ~Scratch() { close(file_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] int get() const { return file_; }

 private:
  int file_;
};

/// Something in each table, and columns on the heap as well as in mappings of their own.
Trace trace_of(std::int64_t operators) {
  TraceBuilder builder;
  builder.step(1, 0, 100 * operators);
  for (std::int64_t i = 0; i < operators; ++i) {
    builder.op("aten::op" + std::to_string(i % 1000), i * 100, 50)
        .shapes("[[" + std::to_string(i % 7) + "]]")
        .sequence(i)
        .stack("a.py(3): f");
    builder.runtime("cudaLaunchKernel", i * 100 + 10, 10, i + 1);
    builder.kernel("gemm", i * 100 + 20, 30, i + 1).grid(8, 1, 1).block(128, 1, 1).graph_node(i);
  }
  builder.copy(CopyKind::h2d, 5, 1, 100'000'001, 64);
  builder.sync("Stream Sync", 7, 1);
  builder.frame("a.py(1): main", 0, 100, 1, 0);
  const SliceId from = builder.op("from", 1, 1);
  const SliceId to = builder.op("to", 3, 1).argument("key", "value");
  builder.flow("fwdbwd", 1, from, to);
  builder.op("nccl:all_reduce", 9, 1).collective({.in_elements = 5});
  builder.memory(11, 512, 1, 0, 64, 512, 1024).sample("load", 12, 0.5).instant("mark", 13);
  builder.device({.id = 0, .name = "Device", .sms = 80})
      .distributed({.backend = "nccl", .rank = 1});
  builder.fact("seed", "1").process(100, "python", "label");
  Trace trace = builder.build();
  trace.import.add(Repair::truncated, 77, "the end", 3);
  trace.import.add_unknown("attribute Foo", 4);
  trace.numbers.push_back({.slice = from, .number = 9});
  trace.timed.push_back({.pid = 4, .start = time_ns(8), .duration = duration_ns(2)});
  trace.process_runs.push_back({.pid = 100, .wall_ns = 5});
  const StringId file = trace.strings.intern("a.py");
  trace.stack_frames.push_back({.function = file, .file = file, .line = 3});
  trace.stack_samples.push_back({.pid = 100,
                                 .tid = 101,
                                 .thread = file,
                                 .frame = 0,
                                 .on_cpu = duration_ns(5),
                                 .cause = StringId(0),
                                 .object = StringId(0)});
  trace.functions.push_back({.pid = 100, .file = file, .name = file, .calls = 2});
  trace.function_calls.push_back({.pid = 100,
                                  .file = file,
                                  .name = file,
                                  .caller_file = file,
                                  .caller_name = file,
                                  .calls = 2});
  trace.lines.push_back({.pid = 100, .file = file, .function = file, .first = 3, .hits = 2});
  trace.function_parts.push_back({.time = trace.functions[0], .step = 3});
  trace.line_parts.push_back({.time = trace.lines[0], .step = 4});
  trace.sources.push_back({.file = file, .text = file});
  trace.format = "made";
  trace.origin_ns = 12;
  trace.bytes_read = 34;
  return trace;
}

std::string details_of(const Trace& trace) {
  std::string text;
  each_detail(
      trace,
      [&text](const auto& value) {
        if constexpr (requires { text.append(value); }) {
          text.append(value);
        } else if constexpr (requires { std::to_string(value); }) {
          text.append(std::to_string(value));
        }
      },
      [](const auto&, const auto&) {});
  return text;
}

TEST(Image, GivesBackWhatWasWritten) {
  for (const std::int64_t operators : {0, 3, 20'000}) {
    const Trace trace = trace_of(operators);
    const Scratch file;
    ASSERT_TRUE(write_image(file.get(), "key", trace));
    const std::optional<Trace> read = read_image(file.get(), "key");
    ASSERT_TRUE(read);
    EXPECT_EQ(broken_promise(*read), "");
    EXPECT_EQ(digest(*read), digest(trace));
    EXPECT_EQ(details_of(*read), details_of(trace));
    EXPECT_EQ(read->import[Repair::truncated].count, 3U);
    EXPECT_EQ(read->import[Repair::truncated].example, "the end");
    EXPECT_EQ(read->import.unknown(), trace.import.unknown());
    ASSERT_EQ(read->devices.size(), 1U);
    EXPECT_EQ(read->devices[0].name, "Device");
    EXPECT_EQ(read->devices[0].sms, 80);
    ASSERT_TRUE(read->distributed);
    EXPECT_EQ(read->distributed->backend, "nccl");
    ASSERT_EQ(read->facts.size(), 1U);
    EXPECT_EQ(read->facts[0].value, "1");
    EXPECT_EQ(read->span, trace.span);
    EXPECT_EQ(read->functions.size(), 1U);
    EXPECT_EQ(read->lines.size(), 1U);
    ASSERT_EQ(read->function_calls.size(), 1U);
    EXPECT_EQ(read->function_calls[0].calls, 2U);
    ASSERT_EQ(read->function_parts.size(), 1U);
    EXPECT_EQ(read->function_parts[0].step, 3);
    ASSERT_EQ(read->line_parts.size(), 1U);
    EXPECT_EQ(read->line_parts[0].time.hits, 2U);
    EXPECT_EQ(read->sources.size(), 1U);
    ASSERT_EQ(read->stack_samples.size(), 1U);
    EXPECT_EQ(read->stack_samples[0].frame, 0U);
    EXPECT_EQ(read->text(read->stack_frames[0].function), read->text(read->functions[0].file));
    EXPECT_EQ(read->timed.size(), 1U);
    EXPECT_EQ(read->process_runs.size(), 1U);
    EXPECT_EQ(read->strings.find("aten::op1"), trace.strings.find("aten::op1"));
  }
}

TEST(Image, HasEachPartOfATrace) {
  const Trace trace;
  std::size_t bytes = sizeof trace.strings + sizeof trace.import;
  each_array(trace, [&bytes](const auto& array) { bytes += sizeof array; });
  each_detail(
      trace, [&bytes](const auto& value) { bytes += sizeof value; },
      [&bytes](const auto& list, const auto&) { bytes += sizeof list; });
  EXPECT_GE(bytes + alignof(std::max_align_t), sizeof trace) << "a new member: src/store/parts.h";
}

TEST(Image, GrowsLikeAnyTrace) {
  const Scratch file;
  ASSERT_TRUE(write_image(file.get(), "key", trace_of(20'000)));
  std::optional<Trace> trace = read_image(file.get(), "key");
  ASSERT_TRUE(trace);
  const std::size_t rows = trace->slices.size();
  const Slices::Row first = trace->slices.row(0);
  for (int i = 0; i < 10'000; ++i) trace->slices.append(first);
  EXPECT_EQ(trace->slices.size(), rows + 10'000);
  EXPECT_EQ(trace->slices.start[0], trace->slices.start[rows + 9'999]);
  const std::size_t texts = trace->strings.size();
  EXPECT_EQ(trace->strings.intern("aten::op1"), trace->strings.find("aten::op1"));
  EXPECT_EQ(trace->text(trace->strings.intern("a new text")), "a new text");
  EXPECT_EQ(trace->strings.size(), texts + 1);
  trace->slices.start[1] = time_ns(-7);
  EXPECT_EQ(digest(*read_image(file.get(), "key")), digest(trace_of(20'000)))
      << "the file is as it was";
}

TEST(Image, WithAnyByteDamagedIsNone) {
  const Scratch file;
  ASSERT_TRUE(write_image(file.get(), "key", trace_of(3)));
  const off_t size = lseek(file.get(), 0, SEEK_END);
  // Every byte of the header that counts, then one of each page.
  for (off_t at = 0; at < size; at += at < 600 ? 1 : 1777) {
    char byte = 0;
    ASSERT_EQ(pread(file.get(), &byte, 1, at), 1);
    const char other = static_cast<char>(byte ^ 0x10);
    ASSERT_EQ(pwrite(file.get(), &other, 1, at), 1);
    EXPECT_FALSE(read_image(file.get(), "key")) << "byte " << at;
    ASSERT_EQ(pwrite(file.get(), &byte, 1, at), 1);
  }
  EXPECT_TRUE(read_image(file.get(), "key"));
}

std::string content(int file) {
  std::string bytes(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

void put(int file, std::string_view bytes) {
  EXPECT_EQ(ftruncate(file, 0), 0);
  EXPECT_EQ(pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
}

TEST(Image, WithBitsFlippedAtRandomIsNone) {
  const Scratch file;
  ASSERT_TRUE(write_image(file.get(), "key", trace_of(2'000)));
  const std::string whole = content(file.get());
  std::mt19937_64 random(17);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t flips = random() % 3 + 1; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    if (bytes == whole) continue;
    put(file.get(), bytes);
    EXPECT_FALSE(read_image(file.get(), "key")) << "round " << round;
  }
}

/// As somebody would who knows how it is summed up.
void sum_up_again(std::string& bytes) {
  image::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.data_sum = 0;
  for (std::size_t at = image::kPage; at < bytes.size(); at += image::kBlock) {
    const std::size_t block = std::min(image::kBlock, bytes.size() - at);
    header.data_sum = image::add_block(header.data_sum, block_sum(bytes.data() + at, block));
  }
  header.file_bytes = bytes.size();
  header.header_sum = image::sum_of(header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST(Image, ThatWasForgedLeadsNowhereItShouldNot) {
  const Scratch file;
  ASSERT_TRUE(write_image(file.get(), "key", trace_of(200)));
  const std::string whole = content(file.get());
  std::mt19937_64 random(18);
  int believed = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::string bytes = whole;
    const std::size_t word = random() % (bytes.size() / 8) * 8;
    const std::uint64_t wrong = round % 2 == 0 ? random() : random() % 100'000;
    std::memcpy(bytes.data() + word, &wrong, sizeof wrong);
    sum_up_again(bytes);
    put(file.get(), bytes);
    const std::optional<Trace> trace = read_image(file.get(), "key");
    if (!trace) continue;
    ++believed;
    EXPECT_EQ(broken_promise(*trace), "") << "round " << round;
    for (std::size_t row = 0; row < trace->slices.size(); ++row) {
      EXPECT_LE(trace->name(SliceId(row)).size(), bytes.size());
      EXPECT_LE(trace->track(SliceId(row)).kind, TrackKind::async);
    }
  }
  EXPECT_GT(believed, 0) << "the sums are right";
  EXPECT_LT(believed, 4'000) << "the numbers are not";
}

TEST(Image, MayBeRemovedWhileItsTraceLives) {
  const Trace trace = trace_of(20'000);
  std::optional<Trace> read;
  {
    const Scratch file;
    ASSERT_TRUE(write_image(file.get(), "key", trace));
    read = read_image(file.get(), "key");
  }
  ASSERT_TRUE(read);
  EXPECT_EQ(digest(*read), digest(trace));
}

TEST(Image, ShortenedOrOfAnotherKeyIsNone) {
  const Scratch file;
  ASSERT_TRUE(write_image(file.get(), "key", trace_of(3)));
  EXPECT_FALSE(read_image(file.get(), "another"));
  const off_t size = lseek(file.get(), 0, SEEK_END);
  for (const off_t length : {size - 1, size - 4096, off_t{4096}, off_t{100}, off_t{0}}) {
    ASSERT_EQ(ftruncate(file.get(), length), 0);
    EXPECT_FALSE(read_image(file.get(), "key")) << length;
  }
}

TEST(Image, ThatCannotBeWrittenSaysSo) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  EXPECT_FALSE(write_image(full, "key", trace_of(3)));
  close(full);
  const Scratch file;
  EXPECT_FALSE(write_image(file.get(), std::string(kImageKeyBytes + 1, 'k'), trace_of(3)));
}

}  // namespace
}  // namespace fathom
