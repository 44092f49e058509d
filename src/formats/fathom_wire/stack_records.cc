// Turns records of sampled stacks into rows of a trace.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "formats/fathom_wire/trace_maker.h"
#include "store/recorder_file.h"

namespace fathom::own {
namespace {

/// Of what one sample may have spent: 73 years, as of other times.
constexpr std::int64_t kLongest = std::int64_t{1} << 61;

bool may_be_true(std::int64_t spent) { return spent >= 0 && spent <= kLongest; }

}  // namespace

/// Its row, counted from 1. The parent's where it is too deep.
std::uint32_t TraceMaker::frame(const wire::FrameRecord& record, std::uint64_t offset) {
  return 1 + frames_.add({.parent = record.parent == 0 ? kNoFrame : record.parent - 1,
                          .function = text(record.function, offset),
                          .file = text(record.file, offset),
                          .line = record.line});
}

void TraceMaker::stack(const wire::StackRecord& record, std::uint64_t offset) {
  if (!true_time(record.time, offset)) return;
  const std::int64_t spent[] = {record.on_cpu, record.queued, record.blocked};
  // Sums over all samples must stay numbers, too.
  const bool fits = std::ranges::all_of(spent, [this](std::int64_t time) {
    if (!may_be_true(time) || time > kLongest - stack_time_) return false;
    stack_time_ += time;
    return true;
  });
  if (!fits) {
    trace_.import.add(Repair::number_out_of_range, offset, "time of a stack");
    return;
  }
  trace_.stack_samples.push_back({.pid = record.pid,
                                  .tid = record.tid,
                                  .time = time_ns(record.time),
                                  .thread = text(record.thread, offset),
                                  .frame = record.frame == 0 ? kNoFrame : record.frame - 1,
                                  .on_cpu = duration_ns(record.on_cpu),
                                  .queued = duration_ns(record.queued),
                                  .blocked = duration_ns(record.blocked),
                                  .cause = text(record.cause, offset),
                                  .object = text(record.object, offset)});
  note_time(record.time);
}

/// Whether the first function of the thread is the recorder's; not known where there is none, or
/// where all that was read is what Python itself begins threads with.
bool TraceMaker::is_of_recorder(const StackSample& sample, bool& known) const {
  bool of_recorder = false;
  known = false;
  for (std::uint32_t row = sample.frame; row != kNoFrame; row = trace_.stack_frames[row].parent) {
    const std::string_view file = trace_.text(trace_.stack_frames[row].file);
    if (file.empty() || file.ends_with("/threading.py")) continue;
    known = true;
    if (is_around_threads(file)) return false;  // In no thread of the recorder.
    of_recorder = is_recorder_file(file);
  }
  return of_recorder;
}

/// The recorder's thread in a process is none of the program. Threads that begin with a process are
/// the program's, whatever they were met in.
void TraceMaker::leave_out_recorder() {
  std::map<Thread, bool> threads;
  for (const StackSample& sample : trace_.stack_samples) {
    if (sample.pid == sample.tid) continue;
    bool known = false;
    const bool of_recorder = is_of_recorder(sample, known);
    if (!known) continue;
    const auto [at, fresh] = threads.try_emplace({sample.pid, sample.tid}, of_recorder);
    at->second = at->second && of_recorder;
  }
  Duration on_cpu{};
  const auto removed = std::erase_if(trace_.stack_samples, [&](const StackSample& sample) {
    const auto at = threads.find({sample.pid, sample.tid});
    const bool own = at != threads.end() && at->second;
    if (own) on_cpu += sample.on_cpu;
    return own;
  });
  if (removed > 0) facts_[{0, "samples.of_recorder_ns"}] = std::to_string(to_ns(on_cpu));
}

}  // namespace fathom::own
