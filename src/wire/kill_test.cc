// A writer that is killed at any moment leaves everything it had handed over.
#include <atomic>
#include <csignal>
#include <random>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "wire/wire_test_support.h"
#include "wire/writer.h"

namespace fathom::wire {
namespace {

/// What the writing process reports, in memory that outlives it.
struct Progress {
  std::atomic<std::uint64_t> bytes;   // handed over, as of its last look
  std::atomic<std::uint64_t> slices;  // begun to be written
};

[[noreturn]] void write_until_killed(const std::string& path, Progress& progress,
                                     std::int64_t last_ns) {
  Result<std::unique_ptr<Writer>> opened =
      Writer::open(path, {.block_bytes = 2048, .last_ns = last_ns});
  if (!opened) _exit(1);
  Writer& writer = **opened;
  writer.process(monotonic_ns(), 1, 0, -1, "python", "main");
  for (std::int64_t i = 0;; ++i) {
    progress.slices.store(static_cast<std::uint64_t>(i) + 1);
    writer.slice(monotonic_ns(), 1, 1, 1, "name " + std::to_string(i % 100), "annotation", i);
    progress.bytes.store(writer.bytes_written());
  }
}

/// Kills the writer when it has begun that many slices.
void kill_after(const std::string& path, Progress& progress, std::uint64_t slices,
                std::int64_t last_ns) {
  progress.bytes.store(0);
  progress.slices.store(0);
  const pid_t child = fork();
  if (child == 0) write_until_killed(path, progress, last_ns);
  while (progress.slices.load() < slices) {
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

class Kill : public testing::Test {
 public:
  Kill()
      : progress_(*static_cast<Progress*>(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Kill() override { munmap(&progress_, sizeof(Progress)); }
  Kill(const Kill&) = delete;
  Kill& operator=(const Kill&) = delete;

 protected:
  TemporaryFolder folder_;
  Progress& progress_;
};

TEST_F(Kill, EverythingUpToTheLastBlockIsReadable) {
  std::mt19937_64 random(20240229);
  for (int round = 0; round < 100; ++round) {
    const std::string path = folder_.file("a.fathom");
    kill_after(path, progress_, random() % 3000 + 1, 0);
    const std::string bytes = bytes_of(path);
    EXPECT_GE(bytes.size(), progress_.bytes.load());
    ReadBack back;
    read_back(bytes, back);
    const std::vector<std::string> slices = back.listing.of("slice");
    // All that was handed over, in order and without a hole.
    for (std::size_t i = 0; i < slices.size(); ++i) {
      ASSERT_TRUE(slices[i].ends_with("name " + std::to_string(i % 100) + " annotation " +
                                      std::to_string(i)))
          << slices[i];
    }
    EXPECT_EQ(back.damage.missing.count, 0U);
    // At most one block was not handed over: 2048 bytes hold less than 50 of these slices.
    EXPECT_GE(slices.size() + 50, progress_.slices.load());
    // One write per block: no half block is seen, unless the kill came within the write.
    EXPECT_LE(back.damage.cut_off.count, 1U);
  }
}

TEST_F(Kill, ARingLeavesItsLastSecondsToo) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::string path = folder_.file("ring.fathom");
    std::filesystem::remove(older_path(path));
    constexpr std::int64_t kLast = 300'000;  // ns: turns every few blocks
    kill_after(path, progress_, random() % 5000 + 500, kLast);
    ReadBack older;
    ReadBack newer;
    read_back(bytes_of(older_path(path)), older);
    read_back(bytes_of(path), newer);
    std::vector<std::string> slices = older.listing.of("slice");
    const std::vector<std::string> last = newer.listing.of("slice");
    slices.insert(slices.end(), last.begin(), last.end());
    ASSERT_FALSE(slices.empty());
    const auto field = [](const std::string& line, bool value) {
      return std::stoll(value ? line.substr(line.rfind(' ') + 1) : line.substr(6));
    };
    const std::int64_t first = field(slices.front(), true);
    for (std::size_t i = 0; i < slices.size(); ++i)
      ASSERT_EQ(field(slices[i], true), first + static_cast<std::int64_t>(i));
    // The turn came when the older half covered the time that was asked for.
    const std::vector<std::string> before = older.listing.of("clock");
    const std::vector<std::string> after = newer.listing.of("clock");
    if (!before.empty() && !after.empty()) {
      EXPECT_GE(field(after.front(), false) - field(before.front(), false), kLast);
    }
    EXPECT_GE(static_cast<std::uint64_t>(field(slices.back(), true)) + 50, progress_.slices.load());
  }
}

}  // namespace
}  // namespace fathom::wire
