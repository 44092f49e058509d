// Blocks are filled under a lock and handed over when they are full or old; what a ring must repeat
// is kept beside them.
#include "wire/writer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
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

struct Clocks {
  std::int64_t monotonic = 0;
  std::int64_t unix = 0;
  std::uint32_t error = 0;
};

/// The narrowest of a few readings.
Clocks read_clocks() {
  constexpr int kReadings = 3;
  Clocks best{.error = UINT32_MAX};
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
enum class Loss : std::uint8_t { disk, size_cap, memory_cap, no_memory };
constexpr std::array<std::string_view, 4> kLosses = {
    "records that the disk did not take", "records beyond the size cap",
    "counters and facts beyond the memory cap", "counters and facts for which there was no memory"};

struct Counter {
  std::int32_t pid = 0;
  std::int32_t device = -1;
  std::string name;
  std::string unit;
  std::uint64_t defined_in = UINT64_MAX;  // number of the block
};

/// What a ring says again in each file: a process, thread or fact.
struct Repeated {
  Kind kind = Kind::fact;
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::int32_t rank = -1;
  std::int64_t tid = 0;
  std::string_view first;
  std::string_view second;
};

/// With texts of its own.
struct Kept {
  Repeated record;
  std::string first;
  std::string second;
  [[nodiscard]] Repeated whole() const {
    Repeated copy = record;
    copy.first = first;
    copy.second = second;
    return copy;
  }
};

/// The smallest of what is asked for and what the process may write: beyond its limit the system
/// would end the program.
std::uint64_t cap(std::uint64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::uint64_t>(wanted, limit.rlim_cur);
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
        max_size_(cap(options.max_size_bytes) / (options.last_ns > 0 ? 2 : 1)),
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

  /// Makes room for a record; `time` is when it happened, kNever where it has no time. False where
  /// it is dropped. `more_bytes` are of records that must lie in the same block.
  bool room(Kind kind, std::int64_t time, std::initializer_list<std::string_view> texts,
            std::span<const Argument> arguments = {}, std::size_t more_bytes = 0);
  /// Relates the clocks, in the block at hand.
  void clock();
  Block& block() { return *block_; }
  /// Of the record that was added last.
  void add(std::span<const Argument> arguments);
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
  /// Writes it, in a ring again in each file.
  void write_and_repeat(const Repeated& record);
  void write(const Repeated& record);
  void count_dropped(std::uint64_t records) { dropped_ += records; }
  void lose(Loss loss, std::uint64_t records);

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + file_.size(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void begin_block();
  void rotate(std::int64_t now);
  void say_losses();
  bool take_memory(std::size_t bytes);

  std::mutex mutex_;
  std::string path_;
  std::string older_;
  WriterOptions options_;
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
  std::vector<Kept> repeated_;
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
  const Clocks clocks = read_clocks();
  opened_ = block_->empty() ? clocks.monotonic : opened_;
  block_->add(Kind::clock) << clocks.monotonic << clocks.unix << clocks.error;
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
  for (const Kept& kept : repeated_) {
    const Repeated record = kept.whole();
    if (!block_->fits(record.kind, 2, record.first.size() + record.second.size())) hand_over();
    if (block_->empty()) clock();
    write(record);
  }
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
    const std::uint32_t what = block_->text(kLosses[i]);
    block_->add(Kind::dropped) << what << std::exchange(losses_[i], 0);
  }
}

bool Writer::State::room(Kind kind, std::int64_t time,
                         std::initializer_list<std::string_view> texts,
                         std::span<const Argument> arguments, std::size_t more_bytes) {
  if (!active()) return false;
  // A record for each argument, which is to lie in the same block.
  std::size_t text_bytes =
      more_bytes + arguments.size() * (kRecordHeaderBytes + body_bytes(Kind::argument));
  const std::size_t text_count = texts.size() + 2 * arguments.size();
  for (const std::string_view text : texts) text_bytes += text.size();
  for (const Argument& argument : arguments)
    text_bytes += argument.key.size() + argument.value.size();
  newest_ = std::max(newest_, time);
  if (begun_ && newest_ != kNever && newest_ - opened_ >= options_.max_age_ns) hand_over();
  if (begun_ && !block_->fits(kind, text_count, text_bytes)) hand_over();
  const bool vital =
      kind == Kind::exit || kind == Kind::fact || kind == Kind::dropped || kind == Kind::process;
  const std::uint64_t size = file_.size() + block_->payload_bytes() + text_bytes;
  if (size > max_size_) vital_only_ = true;
  if (vital_only_ && (!vital || size > max_size_ + kReserve / 2)) {
    lose(Loss::size_cap, 1);
    return false;
  }
  if (!begun_) begin_block();
  return true;
}

void Writer::State::add(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    const std::uint32_t key = block_->text(argument.key);
    const std::uint32_t value = block_->text(argument.value);
    block_->add(Kind::argument) << key << value;
  }
}

bool Writer::State::hand_over() {
  if (!active() || block_->empty()) return true;
  if (!begun_) begin_block();
  const std::uint64_t records = block_->records();
  const bool written = file_.append(block_->finish(number_));
  newest_ = kNever;
  ++number_;  // a missing number tells the reader what is missing
  block_->clear();
  begun_ = false;
  if (!written) lose(Loss::disk, records);
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
    if (!room(Kind::sample, time, {})) return false;
    if (counter.defined_in == number_) return true;
    // Making room has begun another block, because of the old one's age: define it there.
  }
  if (!room(Kind::counter, time, {counter.name, counter.unit})) return false;
  // The sample must not begin the next block: both fit, or neither.
  if (!block_->fits(Kind::sample, 2, counter.name.size() + counter.unit.size() + 64)) {
    hand_over();
    if (!room(Kind::counter, time, {counter.name, counter.unit})) return false;
  }
  const std::uint32_t name = block_->text(counter.name);
  const std::uint32_t unit = block_->text(counter.unit);
  block_->add(Kind::counter) << id << counter.pid << counter.device << name << unit;
  counter.defined_in = number_;
  return true;
}

void Writer::State::write_and_repeat(const Repeated& record) {
  write(record);
  if (options_.last_ns <= 0) return;
  if (!take_memory(sizeof(Kept) + record.first.size() + record.second.size())) return;
  try {
    repeated_.push_back({record, std::string(record.first), std::string(record.second)});
  } catch (...) {
    lose(Loss::no_memory, 1);
  }
}

void Writer::State::write(const Repeated& record) {
  const std::uint32_t first = block_->text(record.first);
  const std::uint32_t second = block_->text(record.second);
  Packer body = block_->add(record.kind);
  switch (record.kind) {
    case Kind::process:
      body << record.time << record.pid << record.parent << record.rank << first << second;
      break;
    case Kind::thread:
      body << record.pid << record.tid << first;
      break;
    default:
      body << record.pid << first << second;
  }
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() { close(); }

Result<std::unique_ptr<Writer>> Writer::open(std::string path, const WriterOptions& options) {
  if (!count_forks()) throw std::bad_alloc();
  Result<File> file = File::create(path);
  if (!file) return std::move(file).error();
  if (!file->append(kMagic))
    return Error{ErrorCode::io, path + ": cannot be written: " + std::strerror(errno)};
  std::unique_ptr<Block> block = Block::make(options.block_bytes);
  if (block == nullptr) throw std::bad_alloc();
  auto state =
      std::make_unique<State>(std::move(path), options, std::move(*file), std::move(block));
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

void Writer::clock() noexcept {
  const auto lock = state_->lock();
  if (state_->room(Kind::clock, kNever, {})) state_->clock();
}

void Writer::process(std::int64_t time, std::int32_t pid, std::int32_t parent, std::int32_t rank,
                     std::string_view name, std::string_view role) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::process, time, {name, role})) return;
  state_->write_and_repeat({Kind::process, time, pid, parent, rank, 0, name, role});
}

void Writer::thread(std::int32_t pid, std::int64_t tid, std::string_view name) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::thread, kNever, {name, {}})) return;
  state_->write_and_repeat({Kind::thread, 0, pid, 0, -1, tid, name, {}});
}

void Writer::slice(std::int64_t start, std::int64_t duration, std::int32_t pid, std::int64_t tid,
                   std::string_view name, std::string_view category, std::int64_t value) noexcept {
  const Slice one{start, duration, pid, tid, name, category, value, {}};
  slices({&one, 1});
}

void Writer::slices(std::span<const Slice> slices) noexcept {
  const auto lock = state_->lock();
  for (const Slice& slice : slices) {
    if (!state_->room(Kind::slice, slice.start, {slice.name, slice.category}, slice.arguments))
      continue;
    Block& block = state_->block();
    const std::uint32_t name = block.text(slice.name);
    const std::uint32_t category = block.text(slice.category);
    block.add(Kind::slice) << slice.start << slice.duration << slice.pid << slice.tid << name
                           << category << slice.value;
    state_->add(slice.arguments);
  }
}

void Writer::begin(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
                   std::string_view category, std::span<const Argument> arguments) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::begin, time, {name, category}, arguments)) return;
  Block& block = state_->block();
  const std::uint32_t name_id = block.text(name);
  const std::uint32_t category_id = block.text(category);
  block.add(Kind::begin) << time << pid << tid << name_id << category_id;
  state_->add(arguments);
}

void Writer::end(std::int64_t time, std::int32_t pid, std::int64_t tid) noexcept {
  const auto lock = state_->lock();
  if (state_->room(Kind::end, time, {})) state_->block().add(Kind::end) << time << pid << tid;
}

void Writer::instant(std::int64_t time, std::int32_t pid, std::int64_t tid, std::string_view name,
                     std::string_view category, std::span<const Argument> arguments) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::instant, time, {name, category}, arguments)) return;
  Block& block = state_->block();
  const std::uint32_t name_id = block.text(name);
  const std::uint32_t category_id = block.text(category);
  block.add(Kind::instant) << time << pid << tid << name_id << category_id;
  state_->add(arguments);
}

std::uint32_t Writer::counter(std::int32_t pid, std::int32_t device, std::string_view name,
                              std::string_view unit) noexcept {
  const auto lock = state_->lock();
  return state_->add_counter(pid, device, name, unit);
}

void Writer::sample(std::int64_t time, std::uint32_t counter, double value) noexcept {
  const auto lock = state_->lock();
  if (!std::isfinite(value) || !state_->define(counter, time)) return;
  state_->block().add(Kind::sample) << time << counter << value;
}

void Writer::fact(std::int32_t pid, std::string_view key, std::string_view value) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::fact, kNever, {key, value})) return;
  state_->write_and_repeat({Kind::fact, 0, pid, 0, -1, 0, key, value});
}

void Writer::exit(const Exit& exit) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::exit, exit.time, {})) return;
  state_->block().add(Kind::exit) << exit.time << exit.pid << exit.status << exit.user
                                  << exit.system << exit.peak << exit.wall << exit.read
                                  << exit.written;
}

void Writer::dropped(std::string_view what, std::uint64_t count) noexcept {
  const auto lock = state_->lock();
  state_->count_dropped(count);
  if (!state_->room(Kind::dropped, kNever, {what})) return;
  const std::uint32_t what_id = state_->block().text(what);
  state_->block().add(Kind::dropped) << what_id << count;
}

void Writer::function(const Function& function) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::function, kNever, {function.file, function.name})) return;
  Block& block = state_->block();
  const std::uint32_t file = block.text(function.file);
  const std::uint32_t name = block.text(function.name);
  block.add(Kind::function) << function.pid << file << function.line << name << function.calls
                            << function.total << function.self;
}

void Writer::device(const DeviceActivity& activity) noexcept {
  const auto lock = state_->lock();
  const Copy* const copy = activity.copy;
  const Wait* const wait = activity.wait;
  const std::string_view kind = copy != nullptr ? copy->kind : wait != nullptr ? wait->kind : "";
  // All of it in one block.
  const std::size_t details = 3 * kRecordHeaderBytes + body_bytes(Kind::launch) +
                              body_bytes(Kind::copy) + body_bytes(Kind::wait);
  if (!state_->room(Kind::device, activity.start,
                    {activity.name, activity.category, kind,
                     copy != nullptr ? copy->source : std::string_view(),
                     copy != nullptr ? copy->destination : std::string_view()},
                    activity.arguments, details))
    return;
  Block& block = state_->block();
  const std::uint32_t name = block.text(activity.name);
  const std::uint32_t category = block.text(activity.category);
  block.add(Kind::device) << activity.start << activity.duration << activity.pid << activity.device
                          << activity.context << activity.stream << name << category
                          << activity.correlation << activity.graph << activity.node;
  if (activity.launch != nullptr) {
    Packer body = block.add(Kind::launch);
    for (const Dimensions* const sizes :
         {&activity.launch->grid, &activity.launch->block, &activity.launch->cluster}) {
      for (const std::int32_t size : *sizes) body << size;
    }
    body << activity.launch->registers << activity.launch->static_shared
         << activity.launch->dynamic_shared << activity.launch->local_bytes;
  }
  if (copy != nullptr) {
    const std::uint32_t what = block.text(copy->kind);
    const std::uint32_t source = block.text(copy->source);
    const std::uint32_t destination = block.text(copy->destination);
    block.add(Kind::copy) << copy->bytes << what << source << destination;
  }
  if (wait != nullptr) {
    const std::uint32_t what = block.text(wait->kind);
    block.add(Kind::wait) << what << wait->stream << wait->event << wait->correlation;
  }
  state_->add(activity.arguments);
}

void Writer::call(const Call& call) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::call, call.start, {call.name, call.category}, call.arguments)) return;
  Block& block = state_->block();
  const std::uint32_t name = block.text(call.name);
  const std::uint32_t category = block.text(call.category);
  block.add(Kind::call) << call.start << call.duration << call.pid << call.tid << name << category
                        << call.correlation << call.external;
  state_->add(call.arguments);
}

void Writer::memory(const MemoryOperation& operation) noexcept {
  const auto lock = state_->lock();
  if (!state_->room(Kind::memory, operation.time, {operation.kind})) return;
  Block& block = state_->block();
  const std::uint32_t kind = block.text(operation.kind);
  block.add(Kind::memory) << operation.time << operation.pid << operation.correlation
                          << operation.device << operation.address << operation.bytes
                          << operation.reserved << kind;
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
