// The timeline of lines: stretches beside the threads, each named after its statement.
#include <string>

#include "base/utf8.h"
#include "formats/fathom_wire/trace_maker.h"

namespace fathom::own {
namespace {

constexpr std::string_view kLine = "line";

}  // namespace

/// A thread has a track of its own for them, for they do not nest with what it does.
TrackId TraceMaker::line_track(std::int64_t pid, std::int64_t tid) {
  const auto [at, added] = line_tracks_.try_emplace({pid, tid});
  if (added) {
    const std::string series = std::string(kLine) + (tid == pid ? "" : " " + std::to_string(tid));
    at->second = track(TrackKind::async, pid, 0, series);
    trace_.tracks[at->second.row()].tid = tid;
  }
  return at->second;
}

void TraceMaker::line_run(const wire::LineRunRecord& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.start, offset)) return;
  std::string name(record.file);
  name += ':' + std::to_string(record.first) + ' ';
  name += record.function;
  add_slice(line_track(record.pid, record.tid), record.start,
            true_duration(record.duration, offset), text(name, offset), category(kLine, offset),
            -1);
}

}  // namespace fathom::own
