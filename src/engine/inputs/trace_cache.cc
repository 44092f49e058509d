// Finds, writes and clears away images of traces, and answers about them, in a folder of the user's
// cache.
#include "engine/inputs/trace_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/user_cache.h"
#include "base/whole_io.h"
#include "engine/inputs/build_sum.h"
#include "engine/inputs/kept_answer.h"
#include "store/image.h"

namespace fathom {
namespace {

constexpr std::uint64_t kKeptFrom = std::uint64_t{16} << 20;
constexpr std::uint64_t kKeptAtMost = std::uint64_t{4} << 30;
/// A page asks about many parts of a recording.
constexpr std::ptrdiff_t kMostAnswers = 500;
/// Times of files advance by the kernel's ticks, of 10 ms at most, or on some file systems by
/// seconds: changes closer to each other may have the same.
constexpr std::int64_t kTicksNs = 20'000'000;
constexpr std::int64_t kSecondsNs = 2'000'000'000;
/// What was being written so long ago never will be.
constexpr std::time_t kAbandonedSeconds = 3600;
constexpr std::string_view kEnding = ".trace";
constexpr std::string_view kAnswerEnding = ".answer";
constexpr std::string_view kUnfinished = ".new-";

std::uint64_t size_variable(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return otherwise;
  const std::string_view text = value;
  std::uint64_t size = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? size : otherwise;
}

/// Where traces are kept; empty: nowhere.
std::string folder_of_traces() {
  const char* const given = std::getenv("FATHOM_CACHE");
  const std::string_view wanted = given == nullptr ? "" : given;
  if (wanted == "off") return "";
  if (wanted.starts_with('/')) return std::string(wanted);
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : folder + "/traces";
}

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

/// What an image is of: the state of a file, and the build that read it.
std::string key_of(const struct stat& file) {
  std::string key;
  const auto add = [&key](auto number) { key += std::to_string(number) + ' '; };
  add(file.st_dev), add(file.st_ino), add(file.st_size);
  add(ns_of(file.st_mtim)), add(ns_of(file.st_ctim)), add(build_sum());
  return key;
}

std::string name_of(std::string_view key, std::string_view ending = kEnding) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(hash_bytes(key)));
  return std::string(digits.data()) + std::string(ending);
}

/// The file of that name, where it is a file of this user's that nobody else may write to.
Descriptor open_ours(const std::string& path, struct stat& facts) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool ours = file && fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                    facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!ours) file.reset();
  return file;
}

bool is_old_enough(const struct stat& file) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t changed = std::max(ns_of(file.st_mtim), ns_of(file.st_ctim));
  return ns_of(now) - changed >= (file.st_ctim.tv_nsec == 0 ? kSecondsNs : kTicksNs);
}

struct Kept {
  std::string path;
  std::int64_t used_ns = 0;
  std::uint64_t bytes = 0;
  bool is_answer = false;
};

/// What lies in the folder; of what was never finished only what to remove.
std::vector<Kept> list(const std::string& folder) {
  std::vector<Kept> all;
  for (const std::string& name : names_in(folder)) {
    std::string path = folder;
    path.append("/").append(name);
    struct stat facts {};
    if (lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    const bool abandoned = name.starts_with(kUnfinished) &&
                           facts.st_mtim.tv_sec + kAbandonedSeconds < std::time(nullptr);
    if (abandoned) unlink(path.c_str());
    const bool kept = name.ends_with(kEnding) || name.ends_with(kAnswerEnding);
    if (!kept || name.starts_with(kUnfinished)) continue;
    all.push_back({path, ns_of(facts.st_mtim), static_cast<std::uint64_t>(facts.st_size),
                   name.ends_with(kAnswerEnding)});
  }
  return all;
}

/// Removes what was not used for longest, until `more` bytes have room; false: they never have.
bool make_room(const std::string& folder, std::uint64_t more) {
  const std::uint64_t limit = size_variable("FATHOM_CACHE_SIZE", kKeptAtMost);
  struct statvfs disk {};
  if (more > limit || statvfs(folder.c_str(), &disk) != 0) return false;
  if (more > std::uint64_t{disk.f_bavail} * disk.f_frsize / 2) return false;
  std::vector<Kept> all = list(folder);
  std::uint64_t sum = more;
  for (const Kept& kept : all) sum += kept.bytes;
  std::ptrdiff_t too_many = std::ranges::count_if(all, &Kept::is_answer) + 1 - kMostAnswers;
  std::ranges::sort(all, {}, &Kept::used_ns);
  for (const Kept& kept : all) {
    const bool goes = sum > limit || (kept.is_answer && too_many > 0);
    if (!goes || unlink(kept.path.c_str()) != 0) continue;
    sum -= kept.bytes;
    too_many -= kept.is_answer ? 1 : 0;
  }
  return sum <= limit;
}

/// Of a file that nobody writes to.
class Mapped {
 public:
  Mapped(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  ~Mapped() { munmap(data_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  [[nodiscard]] std::string_view text() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Makes a file with what `fill` writes, under another name until it is whole.
template <class Fill>
void write(const std::string& folder, const std::string& file, Fill fill) {
  const std::string unfinished = folder + "/" + std::string(kUnfinished) +
                                 std::to_string(getpid()) + "-" + file.substr(folder.size() + 1);
  const Descriptor out(
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return;
  const bool written = fill(out.get());
  if (!written || rename(unfinished.c_str(), file.c_str()) != 0) unlink(unfinished.c_str());
}

}  // namespace

TraceCache::TraceCache(const std::string& path) : input_(path) {
  struct stat facts {};
  // Standard input is none, whatever file has that name.
  if (path == "-" || stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if (static_cast<std::uint64_t>(facts.st_size) < size_variable("FATHOM_CACHE_FROM", kKeptFrom))
    return;
  folder_ = folder_of_traces();
  if (folder_.empty() || !is_old_enough(facts)) return;
  key_ = key_of(facts);
  file_ = folder_ + "/" + name_of(key_);
}

std::optional<Trace> TraceCache::find() const {
  if (file_.empty() || !make_private_folder(folder_)) return std::nullopt;
  struct stat facts {};
  const Descriptor image = open_ours(file_, facts);
  if (!image) return std::nullopt;
  try {
    std::optional<Trace> trace = read_image(image.get(), key_);
    if (trace) {
      futimens(image.get(), nullptr);  // used now
    } else {
      unlink(file_.c_str());
    }
    return trace;
  } catch (const std::bad_alloc&) {
    return std::nullopt;  // it may be sound: reading the input says what is lacking
  }
}

void TraceCache::keep(const Trace& trace) const noexcept {
  try {
    if (!is_unchanged() || !make_private_folder(folder_)) return;
    if (!make_room(folder_, image_bytes(trace))) return;
    write(folder_, file_, [&](int file) { return write_image(file, key_, trace).ok(); });
  } catch (const std::exception&) {
    // Without memory for it, it is read again the next time.
  }
}

bool TraceCache::is_unchanged() const {
  struct stat facts {};
  return !file_.empty() && stat(input_.c_str(), &facts) == 0 && key_of(facts) == key_;
}

std::string TraceCache::answer_file(std::string_view question) const {
  return folder_ + "/" + name_of(key_ + std::string(question), kAnswerEnding);
}

bool TraceCache::use_answer(std::string_view question,
                            const std::function<bool(std::string_view)>& use) const {
  if (file_.empty() || !make_private_folder(folder_)) return false;
  const std::string path = answer_file(question);
  struct stat facts {};
  const Descriptor file = open_ours(path, facts);
  if (!file) return false;
  try {
    bool used = false;
    const auto bytes = static_cast<std::size_t>(facts.st_size);
    if (bytes > 0 && bytes <= 2 * kMostAnswerBytes) {
      void* const mapped =
          mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
      if (mapped == MAP_FAILED) return false;
      const Mapped content(mapped, bytes);
      const std::optional<std::string_view> answer = read_answer(content.text(), key_, question);
      used = answer && use(*answer);
    }
    if (used) {
      futimens(file.get(), nullptr);  // used now
    } else {
      unlink(path.c_str());
    }
    return used;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<std::string> TraceCache::find_answer(std::string_view question) const {
  std::optional<std::string> answer;
  use_answer(question, [&answer](std::string_view kept) {
    answer = std::string(kept);
    return true;
  });
  return answer;
}

void TraceCache::keep_answer(std::string_view question, std::string_view answer) const noexcept {
  try {
    if (answer.size() + question.size() > kMostAnswerBytes) return;
    if (!is_unchanged() || !make_private_folder(folder_)) return;
    const std::string content = write_answer(key_, question, answer);
    if (!make_room(folder_, content.size())) return;
    write(folder_, answer_file(question),
          [&](int file) { return write_all(file, content) == content.size(); });
  } catch (const std::exception&) {
    // Without memory for it, it is computed again the next time.
  }
}

Result<Trace> read_kept_trace(const std::string& path, const ReadOptions& options) {
  const TraceCache cache(path);
  if (std::optional<Trace> kept = cache.find()) return *std::move(kept);
  Result<Trace> trace = read_trace(path, options);
  if (trace) cache.keep(*trace);
  return trace;
}

}  // namespace fathom
