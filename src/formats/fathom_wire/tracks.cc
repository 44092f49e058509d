// Finds track, category and name of each record.
#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "formats/fathom_wire/categories.h"
#include "formats/fathom_wire/trace_maker.h"
#include "store/profiler_step.h"

namespace fathom::own {
namespace {

constexpr std::uint8_t kLastCategory = 255;

}  // namespace

/// Steps and fetches are named as torch names them, so that the same rules recognise them.
StringId TraceMaker::slice_name(std::string_view category, std::string_view name,
                                std::int64_t value, std::uint64_t offset) {
  if (category == "step" && value >= 0) return text(profiler_step_name(value), offset);
  if (category == "loader.fetch" && !name.starts_with("enumerate("))
    return text("enumerate(DataLoader)#" + std::string(name), offset);
  return text(name.empty() ? category : name, offset);
}

std::uint8_t TraceMaker::category(std::string_view spelling, std::uint64_t offset) {
  const auto known = categories_.find(std::string(spelling));
  if (known != categories_.end()) return known->second;
  const CategoryRule* const rule = rule_of(spelling);
  if (rule == nullptr) trace_.import.add_unknown("category " + valid_utf8(spelling));
  if (trace_.categories.size() > kLastCategory) return kLastCategory;
  const auto row = static_cast<std::uint8_t>(trace_.categories.size());
  trace_.categories.push_back(
      {text(spelling, offset), rule == nullptr ? SliceKind::other : rule->kind, 0});
  categories_.emplace(spelling, row);
  return row;
}

TrackId TraceMaker::track(TrackKind kind, std::int64_t pid, std::int64_t tid,
                          std::string_view series) {
  const std::string thread =
      kind == TrackKind::host_thread ? std::to_string(tid) : valid_utf8(series);
  const auto [at, added] = tracks_.try_emplace({kind, {pid, thread}}, trace_.tracks.size());
  if (!added) return at->second;
  Track made;
  made.kind = kind;
  made.process = trace_.strings.intern(pid == 0 ? "machine" : std::to_string(pid));
  made.thread = trace_.strings.intern(thread);
  made.pid = pid == 0 ? kAbsent : pid;
  made.tid = kind == TrackKind::host_thread ? tid : kAbsent;
  made.name = StringId(0);
  trace_.tracks.push_back(made);
  return at->second;
}

TrackId TraceMaker::track_of(std::string_view category, std::int64_t pid, std::int64_t tid) {
  const CategoryRule* const rule = rule_of(category);
  if (rule != nullptr && rule->beside) {
    const std::string series =
        std::string(category) + (tid == pid ? "" : " " + std::to_string(tid));
    return track(TrackKind::async, pid, 0, series);
  }
  if (last_track_.valid() && last_thread_ == Thread(pid, tid)) return last_track_;
  last_thread_ = {pid, tid};
  const auto at = threads_.find(last_thread_);
  last_track_ = at != threads_.end() ? at->second : track(TrackKind::host_thread, pid, tid, {});
  threads_[last_thread_] = last_track_;
  return last_track_;
}

}  // namespace fathom::own
