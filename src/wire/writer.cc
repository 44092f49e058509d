// Writes records into blocks, and blocks to the capture file.
// Blocks are filled under a lock and handed over when they are full or old; what a ring must repeat
// is kept beside them.
#include "wire/writer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "wire/block.h"
#include "wire/file.h"

namespace fathom::wire {
namespace {

/// For facts, exits and counts of what was dropped, beyond the size cap.
constexpr std::uint64_t kReserve = std::uint64_t{64} << 10;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The narrowest of a few readings.
ClockRecord read_clocks() {
  constexpr int kReadings = 3;
  ClockRecord best{.error = UINT32_MAX};
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t before = read_clock(CLOCK_MONOTONIC);
    const std::int64_t unix = read_clock(CLOCK_REALTIME);
    const std::int64_t after = read_clock(CLOCK_MONOTONIC);
    const auto error =
        static_cast<std::uint32_t>(std::min<std::int64_t>(after - before, UINT32_MAX - 1));
    if (error < best.error) best = {before + (after - before) / 2, unix, error};
  }
  return best;
}

/// Why records of ours were dropped.
enum class Loss : std::uint8_t { disk, disk_full, file_limit, size_cap, memory_cap, no_memory };
constexpr std::array<std::string_view, 6> kLosses = {
    "records that the disk did not take",
    "records for which the disk had no space",
    "records beyond the limit of file sizes (ulimit -f)",
    "records beyond the size cap",
    "counters and facts beyond the memory cap",
    "counters and facts for which there was no memory"};

struct Counter {
  std::int32_t pid = 0;
  std::int32_t device = -1;
  std::string name;
  std::string unit;
  std::uint64_t defined_in = UINT64_MAX;  // number of the block
};

/// What a ring says again in each file, with texts of its own.
struct Repeated {
  std::variant<ProcessRecord, ThreadRecord, FactRecord> record;
  std::string first;
  std::string second;
};

/// Copies of the record's texts.
template <typename Record>
Repeated repeated_of(const Record& record) {
  Repeated copy{record, {}, {}};
  std::string* next = &copy.first;
  const auto keep = [&]<typename Value>(const Value& value) {
    if constexpr (std::same_as<Value, std::string_view>) *std::exchange(next, &copy.second) = value;
  };
  Record::fields([&](auto... field) { (keep(record.*field.member), ...); });
  return copy;
}

/// The record, whose texts are those of `repeated`.
template <typename Record>
Record with_texts(Record record, const Repeated& repeated) {
  const std::string* next = &repeated.first;
  const auto point = [&]<typename Value>(Value& value) {
    if constexpr (std::same_as<Value, std::string_view>)
      value = *std::exchange(next, &repeated.second);
  };
  Record::fields([&](auto... field) { (point(record.*field.member), ...); });
  return record;
}

/// How large a file of this process may become: beyond that the system would end the program.
std::uint64_t limit_of_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

/// Why a block was not written.
Loss loss_of(int reason) {
  if (reason == ENOSPC || reason == EDQUOT) return Loss::disk_full;
  return reason == EFBIG ? Loss::file_limit : Loss::disk;
}

/// How often this process was forked off another since the first file was opened in one of them.
std::atomic<unsigned>& forks() {
  static constinit std::atomic<unsigned> count{0};
  return count;
}

/// False where the system has no memory for it: then forks are not counted.
bool count_forks() {
  static constinit std::atomic<bool> counted{false};
  if (counted) return true;
  const auto count = [] { forks().fetch_add(1, std::memory_order_relaxed); };
  if (pthread_atfork(nullptr, nullptr, count) != 0) return false;
  counted = true;  // twice is no harm: a number that changes is all that is wanted
  return true;
}

}  // namespace

std::int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

std::string older_path(std::string_view path) {
  constexpr std::string_view kEnd = ".fathom";
  if (path.ends_with(kEnd)) path.remove_suffix(kEnd.size());
  return std::string(path) + ".older.fathom";
}

class Writer::State {
 public:
  State(std::string path, const WriterOptions& options, File file, std::unique_ptr<Block> block)
      : path_(std::move(path)),
        older_(older_path(path_)),
        options_(options),
        size_loss_(limit_of_files() < options.max_size_bytes ? Loss::file_limit : Loss::size_cap),
        max_size_(std::min(options.max_size_bytes, limit_of_files()) /
                  (options.last_ns > 0 ? 2 : 1)),
        file_(std::move(file)),
        block_(std::move(block)),
        forks_(forks().load(std::memory_order_relaxed)) {
    max_size_ = max_size_ > 2 * kReserve ? max_size_ - kReserve : max_size_ / 2;
  }

  /// For the caller's record. Not taken in a forked process, where another thread may have held it.
  std::unique_lock<std::mutex> lock() {
    return ours() ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  [[nodiscard]] bool ours() const { return forks().load(std::memory_order_relaxed) == forks_; }
  [[nodiscard]] bool active() const { return ours() && file_.is_open(); }

  /// Makes room for a record of so many bytes with its texts and arguments; `time` is when it
  /// happened, kNever where it has no time. False where it is dropped.
  bool room(Kind kind, std::size_t body, std::int64_t time, Texts texts,
            std::span<const Argument> arguments = {});
  /// Of the record that was added last.
  void add(std::span<const Argument> arguments);
  /// The record, and its arguments behind it. False where it is dropped.
  template <typename Record>
  bool write(const Record& record, std::int64_t time, std::span<const Argument> arguments = {},
             Kind kind = Record::kKind) {
    if (!room(kind, body_bytes<Record>(), time, texts_of(record), arguments)) return false;
    block_->add(record, kind);
    add(arguments);
    return true;
  }
  /// In a ring again in each file.
  template <typename Record>
  void write_and_repeat(const Record& record, std::int64_t time);
  void write(const DeviceActivity& activity);
  /// Relates the clocks, in the block at hand.
  void clock();
  bool hand_over();
  bool close();
  void abandon() { file_.close(); }
  [[nodiscard]] bool is_old(std::int64_t now) const {
    return !block_->empty() && now - opened_ >= options_.max_age_ns;
  }

  /// Its id; 0 where there is no memory for it, another one that is no counter's beyond the cap.
  std::uint32_t add_counter(std::int32_t pid, std::int32_t device, std::string_view name,
                            std::string_view unit);
  /// Defines the counter in this block. False where there is none of that id, or no room.
  bool define(std::uint32_t id, std::int64_t time);
  void sample(const SampleRecord& sample);
  void stack(StackRecord stack, std::span<const StackFrame> frames);
  void count_dropped(std::uint64_t records) { dropped_ += records; }
  void lose(Loss loss, std::uint64_t records);

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + file_.size(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void begin_block();
  void rotate(std::int64_t now);
  template <typename Record>
  void repeat(const Repeated& repeated);
  void say_losses();
  bool take_memory(std::size_t bytes);
  std::optional<std::uint32_t> add_frames(std::span<const StackFrame> frames, const Texts& texts);

  std::mutex mutex_;
  std::string path_;
  std::string older_;
  WriterOptions options_;
  Loss size_loss_;  // what is beyond max_size_ is lost for
  std::uint64_t max_size_;
  File file_;
  std::unique_ptr<Block> block_;
  unsigned forks_;  // when the file was opened

  std::uint64_t number_ = 0;  // of the block at hand
  bool begun_ = false;
  bool vital_only_ = false;       // beyond the size cap
  std::int64_t opened_ = 0;       // the block at hand
  std::int64_t newest_ = kNever;  // time in it
  std::optional<std::int64_t> file_begun_;
  std::uint64_t bytes_ = 0;  // in earlier files of a ring

  std::vector<Counter> counters_;
  std::vector<Repeated> repeated_;
  /// By the parent's id in the block and the frame's number: its id in the block frames_in_.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> frames_;
  std::uint64_t frames_in_ = UINT64_MAX;
  std::size_t memory_ = 0;
  std::array<std::uint64_t, kLosses.size()> losses_{};  // not yet said in the file
  std::uint64_t dropped_ = 0;
};

void Writer::State::lose(Loss loss, std::uint64_t records) {
  losses_[static_cast<std::size_t>(loss)] += records;
  dropped_ += records;
}

bool Writer::State::take_memory(std::size_t bytes) {
  if (memory_ + bytes > options_.max_memory_bytes) {
    lose(Loss::memory_cap, 1);
    return false;
  }
  memory_ += bytes;
  return true;
}

void Writer::State::clock() {
  const ClockRecord clocks = read_clocks();
  opened_ = block_->empty() ? clocks.monotonic : opened_;
  block_->add(clocks);
}

void Writer::State::rotate(std::int64_t now) {
  if (options_.last_ns <= 0) return;
  if (!file_begun_) file_begun_ = now;
  if (now - *file_begun_ < options_.last_ns) return;
  // Losing the turn is no loss of data: the file at hand goes on.
  if (std::rename(path_.c_str(), older_.c_str()) != 0) return;
  File next = File::make(path_.c_str());
  if (!next.is_open()) return;
  bytes_ += file_.size();
  file_ = std::move(next);
  if (!file_.append(kMagic)) lose(Loss::disk, 0);
  file_begun_ = now;
  vital_only_ = false;
  for (const Repeated& one : repeated_) {
    repeat<ProcessRecord>(one);
    repeat<ThreadRecord>(one);
    repeat<FactRecord>(one);
  }
}

/// Nothing where it is another kind of record.
template <typename Record>
void Writer::State::repeat(const Repeated& repeated) {
  const auto* const kept = std::get_if<Record>(&repeated.record);
  if (kept == nullptr) return;
  const Record record = with_texts(*kept, repeated);
  if (!block_->fits(body_bytes<Record>(), texts_of(record))) hand_over();
  if (block_->empty()) clock();
  block_->add(record);
}

void Writer::State::begin_block() {
  begun_ = true;  // first: what a turn of the ring repeats may fill blocks of its own
  clock();
  rotate(opened_);
  say_losses();
}

void Writer::State::say_losses() {
  for (std::size_t i = 0; i < kLosses.size(); ++i) {
    if (losses_[i] == 0) continue;
    block_->add(DroppedRecord{kLosses[i], std::exchange(losses_[i], 0)});
  }
}

bool Writer::State::room(Kind kind, std::size_t body, std::int64_t time, Texts texts,
                         std::span<const Argument> arguments) {
  if (!active()) return false;
  // A record for each argument, which is to lie in the same block.
  texts.bytes += arguments.size() * (kRecordHeaderBytes + body_bytes<Argument>());
  for (const Argument& argument : arguments) texts += texts_of(argument);
  newest_ = std::max(newest_, time);
  if (begun_ && newest_ != kNever && newest_ - opened_ >= options_.max_age_ns) hand_over();
  if (begun_ && !block_->fits(body, texts)) hand_over();
  const bool vital =
      kind == Kind::exit || kind == Kind::fact || kind == Kind::dropped || kind == Kind::process;
  const std::uint64_t size = file_.size() + block_->payload_bytes() + texts.bytes;
  if (size > max_size_) vital_only_ = true;
  if (vital_only_ && (!vital || size > max_size_ + kReserve / 2)) {
    lose(size_loss_, 1);
    return false;
  }
  if (!begun_) begin_block();
  return true;
}

void Writer::State::add(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) block_->add(argument);
}

bool Writer::State::hand_over() {
  if (!active() || block_->empty()) return true;
  if (!begun_) begin_block();
  const std::uint64_t records = block_->records();
  const bool written = file_.append(block_->finish(number_));
  const Loss loss = loss_of(errno);
  newest_ = kNever;
  ++number_;  // a missing number shows the reader what is missing
  block_->clear();
  begun_ = false;
  if (!written) lose(loss, records);
  return written;
}

bool Writer::State::close() {
  if (!active()) {
    file_.close();
    return false;
  }
  bool written = hand_over();
  const bool owing = std::ranges::any_of(losses_, [](std::uint64_t count) { return count > 0; });
  if (owing) {
    begin_block();
    written = hand_over() && written;
  }
  return file_.close() && written && dropped_ == 0;
}

std::uint32_t Writer::State::add_counter(std::int32_t pid, std::int32_t device,
                                         std::string_view name, std::string_view unit) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  if (!take_memory(sizeof(Counter) + name.size() + unit.size())) return kNone;
  try {
    counters_.push_back({pid, device, std::string(name), std::string(unit)});
  } catch (...) {
    lose(Loss::no_memory, 1);
    return 0;
  }
  return static_cast<std::uint32_t>(counters_.size());
}

bool Writer::State::define(std::uint32_t id, std::int64_t time) {
  if (id == 0 || id > counters_.size()) return false;
  Counter& counter = counters_[id - 1];
  if (begun_ && counter.defined_in == number_) {
    if (!room(Kind::sample, body_bytes<SampleRecord>(), time, {})) return false;
    if (counter.defined_in == number_) return true;
    // Making room has begun another block, because of the old one's age: define it there.
  }
  const CounterRecord record{id, counter.pid, counter.device, counter.name, counter.unit};
  const Texts texts = texts_of(record);
  if (!room(record.kKind, body_bytes<CounterRecord>(), time, texts)) return false;
  // The sample must not begin the next block: both fit, or neither.
  constexpr std::size_t kCounter = 64;
  if (!block_->fits(body_bytes<SampleRecord>(), {texts.count, texts.bytes + kCounter})) {
    hand_over();
    if (!room(record.kKind, body_bytes<CounterRecord>(), time, texts)) return false;
  }
  block_->add(record);
  counter.defined_in = number_;
  return true;
}

void Writer::State::sample(const SampleRecord& sample) {
  if (std::isfinite(sample.value) && define(sample.counter, sample.time)) block_->add(sample);
}

template <typename Record>
void Writer::State::write_and_repeat(const Record& record, std::int64_t time) {
  if (!write(record, time) || options_.last_ns <= 0) return;
  if (!take_memory(sizeof(Repeated) + texts_of(record).bytes)) return;
  try {
    repeated_.push_back(repeated_of(record));
  } catch (...) {
    lose(Loss::no_memory, 1);
  }
}

/// The frames that the block does not define yet, with room for the record behind them. Nothing
/// where they do not fit.
std::optional<std::uint32_t> Writer::State::add_frames(std::span<const StackFrame> frames,
                                                       const Texts& texts) {
  if (frames_in_ != number_) frames_.clear();
  frames_in_ = number_;
  std::uint32_t parent = 0;
  for (const StackFrame& frame : frames) {
    const auto [at, fresh] = frames_.try_emplace(std::pair(parent, frame.number), 0U);
    if (fresh) {
      at->second = static_cast<std::uint32_t>(frames_.size());
      const FrameRecord record{at->second, parent, frame.function, frame.file, frame.line};
      Texts both = texts_of(record);
      both += texts;
      constexpr std::size_t kBytes =
          body_bytes<FrameRecord>() + kRecordHeaderBytes + body_bytes<StackRecord>();
      if (!block_->fits(kBytes, both)) {
        frames_.erase(at);
        return std::nullopt;
      }
      block_->add(record);
    }
    parent = at->second;
  }
  return parent;
}

/// The frames and the stack lie in one block. Where it ends on the way, all begin again in the
/// next; a stack that does not fit into an empty one loses outer frames.
void Writer::State::stack(StackRecord stack, std::span<const StackFrame> frames) {
  const Texts texts = texts_of(stack);
  int attempts = 0;
  while (room(stack.kKind, body_bytes<StackRecord>(), stack.time, texts)) {
    if (const std::optional<std::uint32_t> innermost = add_frames(frames, texts)) {
      stack.frame = *innermost;
      block_->add(stack);
      return;
    }
    hand_over();
    if (++attempts > 1) frames = frames.last(frames.size() / 2);
  }
}

/// With its details, all in one block.
void Writer::State::write(const DeviceActivity& activity) {
  Texts texts = texts_of(activity);
  if (activity.copy != nullptr) texts += texts_of(*activity.copy);
  if (activity.wait != nullptr) texts += texts_of(*activity.wait);
  // Room for each of the details, whichever it has.
  texts.count = text_fields<DeviceActivity>() + text_fields<Copy>();
  texts.bytes +=
      3 * kRecordHeaderBytes + body_bytes<Launch>() + body_bytes<Copy>() + body_bytes<Wait>();
  constexpr std::size_t kBody = body_bytes<DeviceActivity>();
  if (!room(activity.kKind, kBody, activity.start, texts, activity.arguments)) return;
  block_->add(activity);
  if (activity.launch != nullptr) block_->add(*activity.launch);
  if (activity.copy != nullptr) block_->add(*activity.copy);
  if (activity.wait != nullptr) block_->add(*activity.wait);
  add(activity.arguments);
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() { close(); }

Result<std::unique_ptr<Writer>> Writer::open(std::string path, const WriterOptions& options) {
  if (!count_forks()) throw std::bad_alloc();
  Result<File> file = File::create(path);
  if (!file) return std::move(file).error();
  if (!file->append(kMagic)) {
    const std::string limit = errno == EFBIG ? " (the limit of file sizes, ulimit -f)" : "";
    return Error{ErrorCode::io, path + ": cannot be written: " + std::strerror(errno) + limit};
  }
  std::unique_ptr<Block> block = Block::make(options.block_bytes);
  if (block == nullptr) throw std::bad_alloc();
  auto state =
      std::make_unique<State>(std::move(path), options, std::move(*file), std::move(block));
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

void Writer::clock() noexcept {
  const auto lock = state_->lock();
  if (state_->room(Kind::clock, body_bytes<ClockRecord>(), kNever, {})) state_->clock();
}

void Writer::process(std::int64_t time, std::int32_t pid, std::int32_t parent, std::int32_t rank,
                     std::string_view name, std::string_view role) noexcept {
  const auto lock = state_->lock();
  state_->write_and_repeat(ProcessRecord{time, pid, parent, rank, name, role}, time);
}

void Writer::thread(std::int32_t pid, std::int64_t tid, std::string_view name) noexcept {
  const auto lock = state_->lock();
  state_->write_and_repeat(ThreadRecord{pid, tid, name}, kNever);
}

void Writer::slice(std::int64_t start, std::int64_t duration, std::int32_t pid, std::int64_t tid,
                   std::string_view name, std::string_view category, std::int64_t value) noexcept {
  const Slice one{start, duration, pid, tid, name, category, value, {}};
  slices({&one, 1});
}

void Writer::slices(std::span<const Slice> slices) noexcept {
  const auto lock = state_->lock();
  for (const Slice& slice : slices) state_->write(slice, slice.start, slice.arguments);
}

void Writer::begin(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
                   std::string_view category, std::span<const Argument> arguments) noexcept {
  const auto lock = state_->lock();
  state_->write(MomentRecord{time, pid, tid, name, category}, time, arguments, Kind::begin);
}

void Writer::end(std::int64_t time, std::int32_t pid, std::int64_t tid) noexcept {
  const auto lock = state_->lock();
  state_->write(EndRecord{time, pid, tid}, time);
}

void Writer::instant(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
                     std::string_view category, std::span<const Argument> arguments) noexcept {
  const auto lock = state_->lock();
  state_->write(MomentRecord{time, pid, tid, name, category}, time, arguments, Kind::instant);
}

std::uint32_t Writer::counter(std::int32_t pid, std::int32_t device, std::string_view name,
                              std::string_view unit) noexcept {
  const auto lock = state_->lock();
  return state_->add_counter(pid, device, name, unit);
}

void Writer::sample(std::int64_t time, std::uint32_t counter, double value) noexcept {
  const auto lock = state_->lock();
  state_->sample({time, counter, value});
}

void Writer::fact(std::int32_t pid, std::string_view key, std::string_view value) noexcept {
  const auto lock = state_->lock();
  state_->write_and_repeat(FactRecord{pid, key, value}, kNever);
}

void Writer::exit(const Exit& exit) noexcept {
  const auto lock = state_->lock();
  state_->write(exit, exit.time);
}

void Writer::dropped(std::string_view what, std::uint64_t count) noexcept {
  const auto lock = state_->lock();
  state_->count_dropped(count);
  state_->write(DroppedRecord{what, count}, kNever);
}

void Writer::function(const Function& function) noexcept {
  const auto lock = state_->lock();
  state_->write(function, kNever);
}

void Writer::line(const Line& line) noexcept {
  const auto lock = state_->lock();
  state_->write(line, kNever);
}

void Writer::line_run(const LineRun& run) noexcept {
  const auto lock = state_->lock();
  state_->write(run, run.start);
}

void Writer::function_part(const FunctionPart& part) noexcept {
  const auto lock = state_->lock();
  state_->write(part, part.start);
}

void Writer::line_part(const LinePart& part) noexcept {
  const auto lock = state_->lock();
  state_->write(part, part.start);
}

void Writer::function_calls(const FunctionCalls& calls) noexcept {
  const auto lock = state_->lock();
  state_->write(calls, kNever);
}

void Writer::device(const DeviceActivity& activity) noexcept {
  const auto lock = state_->lock();
  state_->write(activity);
}

void Writer::call(const Call& call) noexcept {
  const auto lock = state_->lock();
  state_->write(call, call.start, call.arguments);
}

void Writer::stack(const StackRecord& stack, std::span<const StackFrame> frames) noexcept {
  const auto lock = state_->lock();
  try {
    state_->stack(stack, frames);
  } catch (...) {
    state_->lose(Loss::no_memory, 1);
  }
}

void Writer::memory(const MemoryOperation& operation) noexcept {
  const auto lock = state_->lock();
  state_->write(operation, operation.time);
}

bool Writer::flush() noexcept {
  const auto lock = state_->lock();
  return state_->hand_over() && state_->dropped() == 0;
}

void Writer::flush_if_old(std::int64_t now) noexcept {
  const auto lock = state_->lock();
  if (state_->is_old(now)) state_->hand_over();
}

void Writer::abandon() noexcept { state_->abandon(); }

bool Writer::close() noexcept {
  const auto lock = state_->lock();
  return state_->close();
}

std::uint64_t Writer::dropped_records() const noexcept {
  const auto lock = state_->lock();
  return state_->dropped();
}

std::uint64_t Writer::bytes_written() const noexcept {
  const auto lock = state_->lock();
  return state_->bytes();
}

const std::string& Writer::path() const noexcept { return state_->path(); }

}  // namespace fathom::wire
