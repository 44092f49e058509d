// Turns records of sampled stacks into rows of a trace.
#include <algorithm>
#include <cstdint>

#include "formats/fathom_wire/trace_maker.h"

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

}  // namespace fathom::own
