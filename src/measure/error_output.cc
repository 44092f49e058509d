// Keeps errors in memory without a file, or passes them through a pipe.
#include "measure/error_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_io.h"

namespace fathom::measure {
namespace {

constexpr off_t kMostErrors = off_t{1} << 26U;
constexpr off_t kKeptErrors = off_t{1} << 16U;
constexpr std::size_t kBlock = std::size_t{1} << 16U;
constexpr std::size_t kLastWords = 600;

constexpr std::string_view kWords[] = {
    "out of memory",           // CUDA, cuDNN, PyTorch; "torch.OutOfMemoryError: CUDA out of memory"
    "OutOfMemoryError",        // PyTorch, Java
    "MemoryError",             // Python, and NumPy's _ArrayMemoryError
    "std::bad_alloc",          // C++
    "can't allocate memory",   // PyTorch's allocator of the host
    "not enough memory",       // PyTorch: "you tried to allocate …"
    "Cannot allocate memory",  // ENOMEM
    "CUBLAS_STATUS_ALLOC_FAILED",
    "NCCL_ERROR_OUT_OF_MEMORY",
};
constexpr std::size_t kLongestWords =
    std::ranges::max(kWords, {}, [](std::string_view words) { return words.size(); }).size();

std::pair<Descriptor, Descriptor> new_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

bool says_no_memory(std::string_view text) {
  return std::ranges::any_of(kWords, [text](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  });
}

void MemoryWords::see(std::string_view piece) {
  if (seen_) return;
  end_ += piece.substr(0, kLongestWords);
  seen_ = says_no_memory(end_) || says_no_memory(piece);
  end_ += piece.substr(std::min(piece.size(), kLongestWords));
  end_.erase(0, end_.size() - std::min(end_.size(), kLongestWords));
}

class ErrorRelay {
 public:
  /// std::system_error where there is no pipe or no thread to be had.
  explicit ErrorRelay(MemoryWords& words) : words_(words) {
    std::tie(read_, write_) = new_pipe();
    std::tie(asked_, ask_) = new_pipe();
    thread_ = std::thread([this] { pass_on(); });
  }
  ~ErrorRelay() { end(); }
  ErrorRelay(const ErrorRelay&) = delete;
  ErrorRelay& operator=(const ErrorRelay&) = delete;

  [[nodiscard]] int target() const { return write_.get(); }
  /// The run has it now: when it and all that it started have closed it, there is no more to come.
  void give_away() { write_.reset(); }
  /// What was written until now is passed on; what a process that is left writes is not waited for.
  void end() {
    ask_.reset();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void pass_on() {
    std::array<pollfd, 2> events = {pollfd{.fd = read_.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = asked_.get(), .events = POLLIN, .revents = 0}};
    while (events[1].revents == 0) {
      if (poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return;
      if (events[1].revents == 0 && events[0].revents != 0 && pass_block() <= 0) return;
    }
    int left = 0;
    if (ioctl(read_.get(), FIONREAD, &left) != 0) return;
    while (left > 0) {
      const ssize_t got = pass_block();
      if (got <= 0) return;
      left -= static_cast<int>(got);
    }
  }

  ssize_t pass_block() {
    const ssize_t got = read(read_.get(), block_.data(), block_.size());
    if (got <= 0) return got;
    const std::string_view piece(block_.data(), static_cast<std::size_t>(got));
    // Where nobody reads it, the run is not to notice.
    static_cast<void>(write_all(STDERR_FILENO, piece));
    words_.see(piece);
    return got;
  }

  MemoryWords& words_;
  Descriptor read_;
  Descriptor write_;
  Descriptor asked_;
  Descriptor ask_;
  std::array<char, kBlock> block_{};
  std::thread thread_;
};

ErrorOutput::ErrorOutput() : memory_(memfd_create("fathom-bench", MFD_CLOEXEC)) {}
ErrorOutput::~ErrorOutput() = default;

int ErrorOutput::begin(bool shown) {
  words_ = {};
  scanned_ = 0;
  shown_ = shown;
  if (shown) {
    try {
      relay_ = std::make_unique<ErrorRelay>(words_);
      return relay_->target();
    } catch (const std::system_error&) {
      return STDERR_FILENO;  // A limit of threads or files: shown, and not looked at.
    }
  }
  if (memory_ && ftruncate(memory_.get(), 0) == 0) lseek(memory_.get(), 0, SEEK_SET);
  return memory_.get();
}

void ErrorOutput::started() {
  if (relay_) relay_->give_away();
}

void ErrorOutput::look() {
  struct stat facts {};
  if (shown_ || fstat(memory_.get(), &facts) != 0 || facts.st_size < kMostErrors) return;
  const off_t gone = facts.st_size - kKeptErrors;
  scan(gone);
  fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, gone);
}

void ErrorOutput::end() {
  relay_.reset();
  struct stat facts {};
  if (!shown_ && fstat(memory_.get(), &facts) == 0) scan(facts.st_size);
}

void ErrorOutput::scan(off_t end) {
  std::string block(kBlock, '\0');
  while (scanned_ < end && !words_.seen()) {
    const std::size_t size = std::min(kBlock, static_cast<std::size_t>(end - scanned_));
    const ssize_t got = pread(memory_.get(), block.data(), size, scanned_);
    if (got <= 0) return;
    words_.see(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    scanned_ += got;
  }
}

std::string ErrorOutput::last_words() const {
  struct stat facts {};
  if (shown_ || fstat(memory_.get(), &facts) != 0) return {};
  std::string text(kLastWords, '\0');
  const off_t from = std::max<off_t>(0, facts.st_size - static_cast<off_t>(kLastWords));
  const ssize_t got = pread(memory_.get(), text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace fathom::measure
