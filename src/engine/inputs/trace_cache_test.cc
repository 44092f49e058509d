// What is kept of an input is found while the input is what it was, and never else.
#include "engine/inputs/trace_cache.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/thread_pool.h"
#include "engine/session.h"
#include "store/digest.h"
#include "store/image.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]})";
constexpr std::string_view kOther =
    R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mv", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]})";

class Kept : public testing::Test {
 public:
  Kept() {
    std::string pattern = (fs::temp_directory_path() / "fathom_cache_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    setenv("FATHOM_CACHE", cache().c_str(), 1);
    setenv("FATHOM_CACHE_FROM", "1", 1);
    write(kTrace);
  }
  ~Kept() override {
    unsetenv("FATHOM_CACHE");
    unsetenv("FATHOM_CACHE_FROM");
    unsetenv("FATHOM_CACHE_SIZE");
    fs::remove_all(folder_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 protected:
  [[nodiscard]] std::string cache() const { return (folder_ / "cache").string(); }
  [[nodiscard]] std::string input() const { return (folder_ / "trace.json").string(); }

  void write(std::string_view text) const {
    std::ofstream(input(), std::ios::binary) << text;
    wait_for_ticks();
  }
  /// Until the file's times are old enough to tell a further change: by looking, not by sleeping.
  void wait_for_ticks() const {
    while (!TraceCache(input()).keeps() && fs::exists(input())) {
    }
  }
  [[nodiscard]] Trace read() const {
    Result<Trace> trace = read_kept_trace(input(), {});
    EXPECT_TRUE(trace);
    return std::move(*trace);
  }
  [[nodiscard]] std::size_t files() const {
    if (!fs::exists(cache())) return 0;
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(cache()), fs::directory_iterator()));
  }
  [[nodiscard]] std::string only_file() const {
    return fs::directory_iterator(cache())->path().string();
  }

 private:
  fs::path folder_;
};

TEST_F(Kept, IsFoundTheNextTime) {
  const Trace first = read();
  ASSERT_EQ(files(), 1U);
  const std::optional<Trace> second = TraceCache(input()).find();
  ASSERT_TRUE(second);
  EXPECT_EQ(digest(*second), digest(first));
}

TEST_F(Kept, IsPrivate) {
  (void)read();
  EXPECT_EQ(fs::status(cache()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(only_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Kept, IsNotFoundWhenTheInputChanged) {
  (void)read();
  write(kOther);
  EXPECT_FALSE(TraceCache(input()).find());
  EXPECT_EQ(digest(read()), digest(*read_trace(input(), {})));
}

TEST_F(Kept, IsNotFoundWhenOnlyTheTimeOfChangeDiffers) {
  const auto before = fs::last_write_time(input());
  (void)read();
  write(kOther);  // as long as the first
  fs::last_write_time(input(), before);
  wait_for_ticks();
  EXPECT_FALSE(TraceCache(input()).find());
}

TEST_F(Kept, IsNotBelievedWhenItIsDamaged) {
  (void)read();
  {
    std::fstream file(only_file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('X');
  }
  EXPECT_FALSE(TraceCache(input()).find());
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(digest(read()), digest(*read_trace(input(), {})));
}

TEST_F(Kept, IsNotBelievedWhereOthersMayWrite) {
  (void)read();
  fs::permissions(cache(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(TraceCache(input()).find());
  fs::permissions(cache(), fs::perms::group_write, fs::perm_options::remove);
  EXPECT_TRUE(TraceCache(input()).find());
  fs::permissions(only_file(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(TraceCache(input()).find());
}

TEST_F(Kept, IsNoLink) {
  (void)read();
  const std::string file = only_file();
  fs::rename(file, file + "2");
  fs::create_symlink(file + "2", file);
  EXPECT_FALSE(TraceCache(input()).find());
}

TEST_F(Kept, MakesRoomForWhatIsNewer) {
  (void)read();
  const std::uintmax_t one = fs::file_size(only_file());
  setenv("FATHOM_CACHE_SIZE", std::to_string(one + one / 2).c_str(), 1);
  write(kOther);
  (void)read();
  EXPECT_EQ(files(), 1U);
  EXPECT_TRUE(TraceCache(input()).find());
  setenv("FATHOM_CACHE_SIZE", "1", 1);
  write(kTrace);
  (void)read();
  EXPECT_FALSE(TraceCache(input()).find());
}

TEST_F(Kept, IsNotWantedOfSmallFilesPipesAndWhereItIsOff) {
  setenv("FATHOM_CACHE_FROM", "1000000", 1);
  EXPECT_FALSE(TraceCache(input()).keeps());
  setenv("FATHOM_CACHE_FROM", "1", 1);
  EXPECT_FALSE(TraceCache("/dev/null").keeps());
  EXPECT_FALSE(TraceCache("-").keeps());
  setenv("FATHOM_CACHE", "off", 1);
  EXPECT_FALSE(TraceCache(input()).keeps());
}

TEST_F(Kept, IsNotWantedOfStandardInputThoughAFileIsCalledSo) {
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(input()).parent_path());
  fs::copy_file(input(), "-");
  while (!TraceCache("./-").keeps()) {
  }
  EXPECT_FALSE(TraceCache("-").keeps());
  fs::current_path(before);
}

TEST_F(Kept, IsLeftOutWhenTheInputChangesWhileItIsRead) {
  const TraceCache cache(input());
  const Result<Trace> trace = read_trace(input(), {});
  ASSERT_TRUE(trace);
  write(kOther);
  cache.keep(*trace);
  EXPECT_EQ(files(), 0U);
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST_F(Kept, AnswersAsTheInputDoesWhateverBecameOfIt) {
  const Digest wanted = digest(read());
  const std::string file = only_file();
  const std::string whole = content(file);
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) {
      bytes.resize(random() % bytes.size());
    } else if (round % 3 == 1) {
      bytes.append(random() % 5000, 'x');
    } else {
      for (std::uint64_t flips = random() % 4 + 1; flips > 0; --flips)
        bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    if (bytes == whole) continue;
    put(file, bytes);
    ASSERT_FALSE(TraceCache(input()).find()) << "round " << round;
    ASSERT_EQ(digest(read()), wanted) << "round " << round;
    ASSERT_NE(content(only_file()), bytes) << "kept anew";
  }
}

TEST_F(Kept, IsNotBelievedOfAnotherBuild) {
  const Trace trace = read();
  const std::string file = only_file();
  const Descriptor made(open(file.c_str(), O_RDWR | O_TRUNC | O_CLOEXEC));
  ASSERT_TRUE(made);
  ASSERT_TRUE(write_image(made.get(), "the key that another build has", trace));
  EXPECT_FALSE(TraceCache(input()).find());
  EXPECT_EQ(files(), 0U);
}

TEST_F(Kept, IsNotBelievedOfAnotherUser) {
  (void)read();
  if (chown(only_file().c_str(), 65534, 65534) != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  EXPECT_FALSE(TraceCache(input()).find());
}

TEST_F(Kept, IsNoPipe) {
  (void)read();
  const std::string file = only_file();
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(TraceCache(input()).find()) << "nor is it waited for";
}

TEST_F(Kept, IsWholeWhoeverWritesAndReadsAtTheSameTime) {
  const Result<Trace> trace = read_trace(input(), {});
  ASSERT_TRUE(trace);
  const Digest wanted = digest(*trace);
  const TraceCache cache(input());
  std::atomic<int> found = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          cache.keep(*trace);
          const std::optional<Trace> kept = cache.find();
          if (!kept) continue;
          ++found;
          EXPECT_EQ(digest(*kept), wanted);
        }
      });
    }
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(files(), 1U) << "nothing unfinished is left";
  EXPECT_TRUE(cache.find());
}

TEST_F(Kept, AnAnswerIsFoundByItsQuestionWhileTheInputIsTheSame) {
  const TraceCache before(input());
  before.keep_answer("a", "1");
  before.keep_answer("b", "2");
  EXPECT_EQ(TraceCache(input()).find_answer("a"), "1");
  EXPECT_EQ(TraceCache(input()).find_answer("b"), "2");
  EXPECT_FALSE(TraceCache(input()).find_answer("c"));
  EXPECT_EQ(fs::status(only_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  write(kOther);
  EXPECT_FALSE(TraceCache(input()).find_answer("a"));
  before.keep_answer("d", "of what is there no more");
  EXPECT_EQ(files(), 2U);
}

TEST_F(Kept, AnAnswerIsNotBelievedWhereItIsDamagedOrOthersMayWrite) {
  const TraceCache cache(input());
  cache.keep_answer("a", "answer");
  fs::permissions(only_file(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find_answer("a"));
  fs::permissions(only_file(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(cache.find_answer("a"), "answer");
  std::string bytes = content(only_file());
  bytes.back() = 'X';
  put(only_file(), bytes);
  EXPECT_FALSE(cache.find_answer("a"));
  EXPECT_EQ(files(), 0U);
  cache.keep_answer("a", "answer");
  EXPECT_EQ(cache.find_answer("a"), "answer");
}

TEST_F(Kept, AnAnswerOfAnotherQuestionUnderItsNameIsNotBelieved) {
  const TraceCache cache(input());
  cache.keep_answer("a", "1");
  const std::string of_a = only_file();
  const std::string bytes = content(of_a);
  fs::remove(of_a);
  cache.keep_answer("b", "2");
  put(only_file(), bytes);
  EXPECT_FALSE(cache.find_answer("b"));
}

TEST_F(Kept, AnswersAreInTheSameBoundAsTraces) {
  const TraceCache cache(input());
  cache.keep_answer("a", std::string(1000, 'x'));
  setenv("FATHOM_CACHE_SIZE", "2000", 1);
  cache.keep_answer("b", std::string(1000, 'x'));
  EXPECT_EQ(files(), 1U);
  EXPECT_TRUE(cache.find_answer("b"));
  cache.keep_answer("c", std::string(3000, 'x'));
  EXPECT_FALSE(cache.find_answer("c"));
}

TEST_F(Kept, OfAnswersOnlySoManyAreKept) {
  (void)read();
  const TraceCache cache(input());
  for (int question = 0; question < 520; ++question)
    cache.keep_answer(std::to_string(question), "answer");
  EXPECT_EQ(files(), 501U) << "and the trace";
  EXPECT_TRUE(cache.find_answer("519"));
  EXPECT_TRUE(cache.find());
}

TEST_F(Kept, OfASessionIsWrittenBesideItsAnalyses) {
  const Digest wanted = digest(*read_trace(input(), {}));
  for (const unsigned threads : {1U, 0U}) {
    fs::remove_all(cache());
    const ThreadPool pool(threads);
    {
      const Result<std::unique_ptr<Session>> session = Session::open(input(), {});
      ASSERT_TRUE(session);
      EXPECT_EQ((**session).analyses().steps().steps.size(), 1U);
    }
    EXPECT_EQ(files(), 1U) << "a session does not end before";
    const Result<std::unique_ptr<Session>> again = Session::open(input(), {});
    ASSERT_TRUE(again);
    EXPECT_EQ(digest((**again).trace()), wanted);
  }
}

}  // namespace
}  // namespace fathom
