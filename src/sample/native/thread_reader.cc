// Reads native stacks of single threads.
#include "sample/native/thread_reader.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <poll.h>

#include "base/proc_file.h"
#include "sample/native/perf_event.h"
#include "sample/schedule.h"

namespace fathom::sample::native {
namespace {

/// Of processor time; a thread that runs has it soon.
constexpr std::int64_t kPeriod = 500'000;
constexpr int kLongestWait = 50;  // ms
constexpr int kTries = 3;
constexpr std::uint64_t kMostStackBytes = std::uint64_t{1} << 20U;

std::string folder_of(pid_t pid, pid_t thread) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
}

NativeCalls with_reason(Calls calls) {
  NativeCalls native{.calls = std::move(calls), .reason = {}, .switches = -1};
  if (native.calls.stop != Stop::whole) native.reason = to_string(native.calls.stop);
  return native;
}

}  // namespace

std::optional<BlockedAt> parse_blocked(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.starts_with("running")) return std::nullopt;
  const auto take_last = [&text](Address& value) {
    const std::size_t blank = text.rfind(' ');
    if (blank == std::string_view::npos || !text.substr(blank + 1).starts_with("0x")) return false;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + blank + 3, end, value, 16);
    text = text.substr(0, blank);
    return parsed.ec == std::errc() && parsed.ptr == end;
  };
  BlockedAt at;
  if (!take_last(at.counter) || !take_last(at.stack) || at.stack == 0) return std::nullopt;
  return at;
}

NativeCalls ThreadReader::read(pid_t thread, char state) {
  std::string running;
  std::string blocked;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (state == 'R') {
      if (auto native = read_running(thread, running)) return std::move(*native);
    }
    if (auto native = read_blocked(thread, kMostStackBytes, blocked)) return std::move(*native);
    // It has woken since.
    if (blocked.empty() && running.empty()) state = 'R';
    if (!blocked.empty()) break;
  }
  NativeCalls none;
  none.calls.stop = Stop::no_code;
  none.reason = !blocked.empty()   ? "not readable while it waits: " + blocked
                : !running.empty() ? "not readable while it runs: " + running
                                   : "it went on while it was read";
  return none;
}

/// Nothing where it does not run meanwhile, or `reason` says why not.
std::optional<NativeCalls> ThreadReader::read_running(pid_t thread, std::string& reason) {
  Result<PerfEvent> event = PerfEvent::open(thread, kPeriod);
  if (!event) {
    reason = event.error().message;
    return std::nullopt;
  }
  pollfd wait{.fd = (*event).descriptor(), .events = POLLIN, .revents = 0};
  ::poll(&wait, 1, kLongestWait);
  std::optional<NativeCalls> native;
  (*event).read([&](const PerfSample& sample) {
    native = with_reason(unwind(sample.registers, sample.stack, code_));
  });
  return native;
}

std::optional<NativeCalls> ThreadReader::read_blocked(pid_t thread, std::uint64_t most_bytes,
                                                      std::string& reason) {
  const std::string folder = folder_of(pid_, thread);
  const std::optional<std::string> text = read_file(folder + "/syscall");
  const auto before = parse_schedule(read_file(folder + "/schedstat").value_or(""));
  if (!text) {
    reason = "/proc/PID/task/TID/syscall may not be read";
    return std::nullopt;
  }
  const std::optional<BlockedAt> at = parse_blocked(*text);
  if (!at) return std::nullopt;
  const Mapping* const mapping = code_.mapping_at(at->stack);
  if (mapping == nullptr) {
    reason = "its stack is not known";
    return std::nullopt;
  }
  std::vector<std::byte> bytes(std::min(mapping->end - at->stack, most_bytes));
  if (!memory_.read(at->stack, bytes)) {
    reason = "its stack may not be read";
    return std::nullopt;
  }
  const auto after = parse_schedule(read_file(folder + "/schedstat").value_or(""));
  const bool stayed = read_file(folder + "/syscall") == text && before && after &&
                      before->switches == after->switches;
  if (!stayed) return std::nullopt;
  Registers registers;
  registers.set(kMachine.stack, at->stack);
  registers.set(kMachine.counter, at->counter);
  NativeCalls native = with_reason(unwind(registers, {.begin = at->stack, .bytes = bytes}, code_));
  native.switches = after->switches;
  return native;
}

}  // namespace fathom::sample::native
