// Opens events of perf, and reads their rings.
#include "sample/native/perf_event.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc_file.h"
#include "sample/native/cursor.h"

namespace fathom::sample::native {
namespace {

constexpr std::uint32_t kStackBytes = 32768;
/// Three samples: they are read as they come.
constexpr std::size_t kRingBytes = std::size_t{128} << 10U;
/// Some 340 switches.
constexpr std::size_t kSwitchRingBytes = std::size_t{8} << 10U;

/// The kernel's number of each register that unwinding needs, and DWARF's.
struct RegisterName {
  unsigned kernel;
  unsigned dwarf;
};
#if defined(__x86_64__)
constexpr std::array kNames = {
    RegisterName{PERF_REG_X86_AX, 0},   RegisterName{PERF_REG_X86_DX, 1},
    RegisterName{PERF_REG_X86_CX, 2},   RegisterName{PERF_REG_X86_BX, 3},
    RegisterName{PERF_REG_X86_SI, 4},   RegisterName{PERF_REG_X86_DI, 5},
    RegisterName{PERF_REG_X86_BP, 6},   RegisterName{PERF_REG_X86_SP, 7},
    RegisterName{PERF_REG_X86_R8, 8},   RegisterName{PERF_REG_X86_R9, 9},
    RegisterName{PERF_REG_X86_R10, 10}, RegisterName{PERF_REG_X86_R11, 11},
    RegisterName{PERF_REG_X86_R12, 12}, RegisterName{PERF_REG_X86_R13, 13},
    RegisterName{PERF_REG_X86_R14, 14}, RegisterName{PERF_REG_X86_R15, 15},
    RegisterName{PERF_REG_X86_IP, 16},
};
#elif defined(__aarch64__)
constexpr auto kNames = [] {
  std::array<RegisterName, 33> names{};
  for (unsigned i = 0; i < names.size(); ++i) names[i] = {i, i};
  return names;
}();
#else
#error "which registers has this machine?"
#endif

constexpr std::uint64_t register_mask() {
  std::uint64_t mask = 0;
  for (const RegisterName& name : kNames) mask |= std::uint64_t{1} << name.kernel;
  return mask;
}
constexpr std::uint64_t kMask = register_mask();

perf_event_attr attributes(std::int64_t period) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(period);
  attributes.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = kMask;
  attributes.sample_stack_user = kStackBytes;
  attributes.exclude_hv = 1;
  attributes.wakeup_events = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

perf_event_attr switch_attributes() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.context_switch = 1;
  attributes.task = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

int open_event(perf_event_attr& attributes, pid_t thread) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1,
                                    static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Error refused(int error) {
  const PerfRefusal refusal = perf_refusal(error);
  return {.code = error == ESRCH ? ErrorCode::not_found : ErrorCode::io,
          .message = refusal.why + (refusal.remedy.empty() ? "" : ": " + refusal.remedy)};
}

}  // namespace

PerfRefusal perf_refusal(int error) {
  if (error == EACCES || error == EPERM) {
    std::string level = read_file("/proc/sys/kernel/perf_event_paranoid").value_or("");
    while (level.ends_with('\n')) level.pop_back();
    std::string why = "the kernel does not let perf_event_open look at it";
    if (!level.empty()) why += " (kernel.perf_event_paranoid is " + level + ")";
    return {std::move(why),
            "set kernel.perf_event_paranoid to 2 or less, or use root or the capability PERFMON; a "
            "container also needs a seccomp profile that allows perf_event_open"};
  }
  if (error == ENOSYS)
    return {"the kernel has no perf_event_open, or the container's seccomp profile hides it",
            "allow perf_event_open in the seccomp profile"};
  if (error == ENOMEM || error == EAGAIN)
    return {"no more memory may be locked for perf",
            "raise kernel.perf_event_mlock_kb or ulimit -l"};
  if (error == EMFILE || error == ENFILE) return {"no more files may be opened", "raise ulimit -n"};
  if (error == ESRCH) return {"it has ended", ""};
  return {std::string("perf_event_open does not work: ") + std::strerror(error), ""};
}

void PerfRecords::read(std::span<const std::byte> record, const Take& take) {
  Cursor cursor(record);
  const auto header = cursor.take<perf_event_header>();
  if (!cursor.ok() || header.size != record.size()) {
    ++counts_.broken;
    return;
  }
  if (header.type == PERF_RECORD_SAMPLE) return read_sample(record.subspan(cursor.at()), take);
  if (header.type == PERF_RECORD_LOST) {
    cursor.take<std::uint64_t>();  // which event
    counts_.lost += static_cast<std::int64_t>(cursor.take<std::uint64_t>());
  }
}

void PerfRecords::read_sample(std::span<const std::byte> record, const Take& take) {
  Cursor cursor(record);
  PerfSample sample;
  cursor.take<std::uint32_t>();  // the process
  sample.thread = static_cast<pid_t>(cursor.take<std::uint32_t>());
  sample.time = static_cast<std::int64_t>(cursor.take<std::uint64_t>());
  const auto abi = cursor.take<std::uint64_t>();
  if (abi != PERF_SAMPLE_REGS_ABI_64) {
    ++(cursor.ok() ? counts_.other : counts_.broken);
    return;
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((kMask >> bit & 1U) == 0) continue;
    const auto value = cursor.take<std::uint64_t>();
    const auto* const name = std::ranges::find(kNames, bit, &RegisterName::kernel);
    sample.registers.set(name->dwarf, value);
  }
  const auto room = cursor.take<std::uint64_t>();
  const auto stack = cursor.take_bytes(room);
  const std::uint64_t copied = room == 0 ? 0 : cursor.take<std::uint64_t>();
  if (!cursor.ok() || copied > room) {
    ++counts_.broken;
    return;
  }
  sample.stack = {.begin = sample.registers.get(kMachine.stack).value_or(0),
                  .bytes = stack.first(copied)};
  ++counts_.samples;
  take(sample);
}

Result<PerfEvent> PerfEvent::open(pid_t thread, std::int64_t period) {
  perf_event_attr what = attributes(period);
  int file = open_event(what, thread);
  if (file < 0 && (errno == EACCES || errno == EPERM)) {
    // Then without the time that the thread spends in the kernel.
    what.exclude_kernel = 1;
    file = open_event(what, thread);
  }
  if (file < 0) return refused(errno);
  Result<PerfRing> ring = PerfRing::open(Descriptor(file), kRingBytes);
  if (!ring) return std::move(ring).error();
  return PerfEvent(std::move(*ring));
}

void PerfEvent::read(const PerfRecords::Take& take) {
  const auto each = [&](std::span<const std::byte> record) { records_.read(record, take); };
  if (!ring_.read(each)) records_.add_broken();
}

Result<PerfRing> PerfRing::open(Descriptor file, std::size_t least) {
  // Of whole pages, which may be larger than what is asked for.
  const std::size_t bytes = std::max(least, page_bytes());
  void* const memory =
      ::mmap(nullptr, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  // The kernel says "not permitted" where too much is locked.
  if (memory == MAP_FAILED) return refused(errno == EPERM ? ENOMEM : errno);
  return PerfRing(std::move(file), memory, bytes);
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : file_(std::move(other.file_)),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      record_(std::move(other.record_)) {}

PerfRing::~PerfRing() {
  if (memory_ != nullptr) ::munmap(memory_, page_bytes() + bytes_);
}

bool PerfRing::read(const Take& take) {
  auto* const page = static_cast<perf_event_mmap_page*>(memory_);
  const std::byte* const data = static_cast<const std::byte*>(memory_) + page_bytes();
  const std::uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
  std::uint64_t tail = page->data_tail;
  bool sound = true;
  const auto copy = [&](std::uint64_t from, std::span<std::byte> to) {
    const std::uint64_t at = from % bytes_;
    const std::size_t first = std::min<std::size_t>(to.size(), bytes_ - at);
    std::memcpy(to.data(), data + at, first);
    std::memcpy(to.data() + first, data, to.size() - first);
  };
  while (tail < head) {
    perf_event_header header{};
    copy(tail, std::as_writable_bytes(std::span(&header, 1)));
    if (header.size < sizeof header || header.size > head - tail) {
      sound = false;
      tail = head;
      break;
    }
    const std::uint64_t at = tail % bytes_;
    tail += header.size;
    // The kernel writes nothing there before the tail is moved: only what is divided is copied.
    if (header.size <= bytes_ - at) {
      take({data + at, header.size});
      continue;
    }
    record_.resize(header.size);
    copy(tail - header.size, record_);
    take(record_);
  }
  std::atomic_ref(page->data_tail).store(tail, std::memory_order_release);
  return sound;
}

std::int64_t PerfRing::skip() {
  auto* const page = static_cast<perf_event_mmap_page*>(memory_);
  const std::byte* const data = static_cast<const std::byte*>(memory_) + page_bytes();
  const std::uint64_t head = written();
  std::int64_t records = 0;
  for (std::uint64_t at = page->data_tail; head - at >= sizeof(perf_event_header); ++records) {
    // A record begins at a multiple of 8, so its head is not divided.
    perf_event_header header{};
    std::memcpy(&header, data + at % bytes_, sizeof header);
    if (header.size < sizeof header || header.size > head - at) break;
    at += header.size;
  }
  std::atomic_ref(page->data_tail).store(head, std::memory_order_release);
  return records;
}

std::uint64_t PerfRing::written() const {
  auto* const page = static_cast<perf_event_mmap_page*>(memory_);
  return std::atomic_ref(page->data_head).load(std::memory_order_acquire);
}

bool PerfRing::is_nearly_full() const {
  const auto* const page = static_cast<const perf_event_mmap_page*>(memory_);
  return written() - page->data_tail > bytes_ / 4 * 3;
}

std::optional<Switch> parse_switch(std::span<const std::byte> record) {
  Cursor cursor(record);
  const auto header = cursor.take<perf_event_header>();
  if (!cursor.ok() || header.type != PERF_RECORD_SWITCH) return std::nullopt;
  cursor.take<std::uint64_t>();  // process and thread
  Switch found;
  found.time = static_cast<std::int64_t>(cursor.take<std::uint64_t>());
  found.out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  found.displaced = found.out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  return cursor.ok() ? std::optional(found) : std::nullopt;
}

void parse_begun(std::span<const std::byte> record, Begun& begun) {
  Cursor cursor(record);
  const auto header = cursor.take<perf_event_header>();
  const auto process = static_cast<pid_t>(cursor.take<std::uint32_t>());
  const auto second = static_cast<pid_t>(cursor.take<std::uint32_t>());
  if (!cursor.ok()) return;
  if (header.type == PERF_RECORD_FORK) {
    // The second number is its parent's.
    if (process == second)
      begun.threads = true;
    else if (process > 0)
      begun.processes.push_back(process);
  }
  if (header.type == PERF_RECORD_EXIT) begun.ended = true;
  if (header.type == PERF_RECORD_COMM) {
    // The second number is the thread's.
    if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) begun.program = true;
    std::string name;
    for (char c = cursor.take<char>(); c != '\0'; c = cursor.take<char>()) name.push_back(c);
    if (cursor.ok()) begun.names.emplace_back(second, std::move(name));
  }
}

Result<SwitchEvent> SwitchEvent::open(pid_t thread) {
  perf_event_attr what = switch_attributes();
  const int file = open_event(what, thread);
  if (file < 0) return refused(errno);
  Result<PerfRing> ring = PerfRing::open(Descriptor(file), kSwitchRingBytes);
  if (!ring) return std::move(ring).error();
  return SwitchEvent(std::move(*ring));
}

bool SwitchEvent::read(std::vector<Switch>& to, Begun& begun) {
  const bool all = !ring_.is_nearly_full();
  ring_.read([&](std::span<const std::byte> record) {
    if (const std::optional<Switch> found = parse_switch(record))
      to.push_back(*found);
    else
      parse_begun(record, begun);
  });
  return all;
}

}  // namespace fathom::sample::native
