// Watches a process tree and the steps that it has recorded, and dumps it when it hangs.
#include "record/hang_watch.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "capture/system/files.h"
#include "capture/system/proc.h"
#include "wire/writer.h"

namespace fathom::record {
namespace {

namespace cap = fathom::capture;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kQuickestLook = 50 * kMs;
constexpr std::int64_t kSlowestLook = 1000 * kMs;
/// Looks in the quiet time.
constexpr std::int64_t kLooks = 20;
/// A look costs at most this part of one core.
constexpr std::int64_t kShare = 200;
/// What is recorded in depth grows faster than it is worth to be looked through for steps.
constexpr off_t kMostBytes = off_t{64} << 20U;
constexpr std::size_t kBlock = std::size_t{1} << 18U;

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 * kMs + now.tv_nsec;
}

/// Hands steps on.
class Steps final : public wire::Visitor {
 public:
  explicit Steps(HangRule& rule) : rule_(rule) {}
  void slice(const wire::SliceRecord& record, std::uint64_t /*offset*/) override {
    if (record.category == "step") rule_.step(record.pid, record.start, record.duration);
    if (record.category == "phase") rule_.phase(record.start, record.duration);
  }

 private:
  HangRule& rule_;
};

std::string thread_text(const sample::ThreadLook& thread) {
  std::string text = "thread " + std::to_string(thread.task.id);
  if (!thread.task.name.empty()) text += " " + thread.task.name;
  const bool waits = thread.wait.kind != sample::WaitKind::none;
  text += waits ? " waits (" + std::string(sample::to_string(thread.wait.kind)) + ")"
                : " is " + std::string(sample::state_word(thread.task.state));
  if (thread.frames.empty()) return text;
  const sample::FrameLook& frame = thread.frames.front();
  text += " in " + frame.function + " (" + frame.file;
  if (frame.line) text += ":" + std::to_string(*frame.line);
  return text + ")";
}

const sample::ThreadLook* main_thread(const sample::ProcessLook& process) {
  const auto main = std::ranges::find_if(process.threads, [&](const sample::ThreadLook& thread) {
    return thread.task.id == process.pid;
  });
  return main == process.threads.end() ? nullptr : &*main;
}

}  // namespace

/// It is open only while it is read: a program may have had thousands of processes.
class HangWatch::Tail {
 public:
  Tail(ino_t number, HangRule& rule) : number_(number), steps_(rule), reader_(steps_) {}

  /// Of a ring the file is renamed, and a new one begun.
  [[nodiscard]] ino_t number() const { return number_; }
  /// Of a file that has `size` bytes now. False where it is not read to its end any more.
  bool read(const std::string& path, off_t size) {
    if (read_ >= kMostBytes) return false;
    if (size <= read_) return true;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0 || facts.st_ino != number_) return true;
    std::vector<std::byte> block(kBlock);
    while (read_ < kMostBytes) {
      const ssize_t got = ::pread(file.get(), block.data(), block.size(), read_);
      if (got <= 0) return true;
      read_ += got;
      reader_.feed(std::span(block).first(static_cast<std::size_t>(got)));
    }
    return false;
  }

 private:
  ino_t number_;
  Steps steps_;
  wire::Reader reader_;
  off_t read_ = 0;  ///< Bytes so far.
};

std::string odd_thread(const std::vector<sample::ProcessLook>& processes) {
  const sample::ThreadLook* odd = nullptr;
  for (const sample::ProcessLook& process : processes) {
    const sample::ThreadLook* const main = main_thread(process);
    if (main == nullptr) continue;
    const bool for_child = main->wait.kind == sample::WaitKind::child;
    // Parents come before children: the first that waits for something else.
    if (odd == nullptr || !for_child) odd = main;
    if (!for_child) break;
  }
  return odd == nullptr ? std::string() : thread_text(*odd);
}

HangWatch::HangWatch(Duration quiet, pid_t root, std::string folder, ShowDump show,
                     Messages messages)
    : quiet_(to_ns(quiet)),
      root_(root),
      folder_(std::move(folder)),
      show_(std::move(show)),
      messages_(std::move(messages)),
      rule_(quiet_) {
  if (quiet_ <= 0 || !show_) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    messages_.warning("no thread could be started that looks whether the program hangs");
  }
}

HangWatch::~HangWatch() { end(); }

void HangWatch::end() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool HangWatch::wait_until(std::int64_t when) {
  const auto left = std::chrono::nanoseconds(when - wire::monotonic_ns());
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopping_.wait_for(lock, left, [this] { return stop_; });
}

void HangWatch::run() {
  try {
    const std::int64_t usual = std::clamp(quiet_ / kLooks, kQuickestLook, kSlowestLook);
    std::int64_t next = wire::monotonic_ns();
    while (wait_until(next) && dumps_.size() < kMostDumps) {
      const std::int64_t now = wire::monotonic_ns();
      const std::int64_t before = cpu_ns();
      read_steps();
      const std::vector<pid_t> tree = sample::process_tree(root_);
      const std::string why = rule_.look(look(tree));
      if (!why.empty()) dump(tree, why);
      next = now + std::max(usual, kShare * (cpu_ns() - before));
    }
  } catch (const std::bad_alloc&) {
    messages_.warning("memory did not suffice to look whether the program hangs");
  }
}

void HangWatch::read_steps() {
  std::error_code failure;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry(folder_, failure); !failure && entry != end;
       entry.increment(failure)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() != ".fathom" || path.filename() == "monitor.fathom") continue;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    std::unique_ptr<Tail>& tail = tails_[path.string()];
    if (tail == nullptr || tail->number() != facts.st_ino)
      tail = std::make_unique<Tail>(facts.st_ino, rule_);
    if (!tail->read(path.string(), facts.st_size)) rule_.lose_steps();
  }
}

TreeLook HangWatch::look(const std::vector<pid_t>& tree) const {
  TreeLook look{.now = wire::monotonic_ns()};
  for (const pid_t pid : tree) {
    const std::optional<cap::ProcStat> stat = cap::read_stat(pid);
    if (!stat) continue;
    look.spent[pid] = stat->user + stat->system;
    look.ready = look.ready || stat->state == 'R';
    if (pid == root_) look.stopped = stat->state == 'T' || stat->state == 't';
  }
  return look;
}

void HangWatch::dump(const std::vector<pid_t>& tree, const std::string& why) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<sample::ProcessLook> looks;
  for (const pid_t pid : tree) {
    Result<sample::ProcessLook> look = sample::look_at(pid);
    if (look) looks.push_back(std::move(*look));
  }
  // It has ended meanwhile.
  if (looks.empty()) return;
  const double took =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const std::string name = "hang-" + std::to_string(dumps_.size() + 1);
  const DumpTexts texts = show_(looks, took);
  Result<void> written =
      cap::replace_file(folder_ + "/" + name + ".txt", why + ".\n\n" + texts.text);
  if (written) written = cap::replace_file(folder_ + "/" + name + ".json", texts.json);
  if (!written) return messages_.warning(written.error().message);
  dumps_.push_back({.file = name + ".txt", .why = why, .where = odd_thread(looks)});
  messages_.progress(sentence_of(dumps_.back()));
}

void HangWatch::stop_into(capture::Manifest& manifest) {
  end();
  manifest.dumps = std::move(dumps_);
  dumps_.clear();
}

}  // namespace fathom::record
