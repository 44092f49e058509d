// The flame graph of an area.
#include "analysis/timeline/flame.h"

#include <algorithm>

#include "base/json_writer.h"
#include "server/routes/area.h"

namespace fathom::server {
namespace {

/// What has less of the whole than this is summed up with its like.
constexpr std::int64_t kSmall = 1000;
constexpr std::size_t kMostPaths = 5000;

/// What the width of a call means.
struct Weight {
  std::string_view total, self, merged;  // names of its members
  std::int64_t (*of)(const FlamePath& path);
  std::int64_t (*own)(const FlamePath& path);
};
constexpr Weight kTime = {"total_ns", "self_ns", "merged_ns",
                          [](const FlamePath& path) { return to_ns(path.total); },
                          [](const FlamePath& path) { return to_ns(path.self); }};
constexpr Weight kMemory = {"total_bytes", "self_bytes", "merged_bytes",
                            [](const FlamePath& path) { return path.bytes; },
                            [](const FlamePath& path) { return path.self_bytes; }};

class FlameWriter {
 public:
  FlameWriter(JsonWriter& json, const Trace& trace, const std::vector<FlamePath>& paths,
              const Weight& weight, bool by_time)
      : json_(json), trace_(trace), paths_(paths), weight_(weight), children_(paths.size()) {
    for (std::uint32_t path = 1; path < paths.size(); ++path)
      children_[paths[path].parent].push_back(path);
    for (std::vector<std::uint32_t>& some : children_) {
      std::ranges::sort(some, [&](std::uint32_t a, std::uint32_t b) {
        if (by_time && paths_[a].first != paths_[b].first) return paths_[a].first < paths_[b].first;
        if (of(a) != of(b)) return of(a) > of(b);
        return trace_.text(paths_[a].name) < trace_.text(paths_[b].name);
      });
    }
    // So many are shown that what is left out is small, or that no more fit.
    std::vector<std::int64_t> totals;
    totals.reserve(paths.size());
    for (const FlamePath& path : paths) totals.push_back(weight.of(path));
    std::ranges::sort(totals, std::ranges::greater());
    least_ = std::max(of(0) / kSmall, totals.size() > kMostPaths ? totals[kMostPaths] : 0);
  }

  /// The tree is as deep as kFlameDepth allows.
  void write(std::uint32_t at = 0) {
    const FlamePath& path = paths_[at];
    json_.object().member("name", at == 0 ? std::string_view("all") : trace_.text(path.name));
    json_.member("slices", path.slices).member(weight_.total, of(at));
    json_.member(weight_.self, weight_.own(path)).key("children").array();
    std::uint64_t merged = 0;
    std::int64_t sum = 0;
    for (const std::uint32_t child : children_[at]) {
      if (of(child) > least_ || (least_ == 0 && paths_.size() <= kMostPaths)) {
        write(child);
        continue;
      }
      ++merged;
      sum += of(child);
    }
    json_.end();
    if (merged > 0) json_.member("merged", merged).member(weight_.merged, sum);
    json_.end();
  }

 private:
  [[nodiscard]] std::int64_t of(std::uint32_t path) const { return weight_.of(paths_[path]); }

  JsonWriter& json_;
  const Trace& trace_;
  const std::vector<FlamePath>& paths_;
  const Weight& weight_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::int64_t least_ = 0;
};

Result<Response> answer_flame(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const std::string_view weight = call.text("weight");
  if (!weight.empty() && weight != "time" && weight != "memory")
    return Error{ErrorCode::invalid_argument, "weight: it is time or memory"};
  const std::string_view order = call.text("order");
  if (!order.empty() && order != "weight" && order != "time")
    return Error{ErrorCode::invalid_argument, "order: it is weight or time"};
  const Result<std::int64_t> alive_at = call.number("alive-at", -1);
  if (!alive_at) return alive_at.error();
  const TimelineModel& model = call.input->timeline();
  const Result<std::vector<std::size_t>> tracks = model.lane_tracks(call.text("tracks"));
  if (!tracks) return tracks.error();
  const std::vector<FlamePath> paths =
      flame_of(call.input->context(), model.lanes, *tracks, *stretch,
               *alive_at < 0 ? std::nullopt : std::optional(time_ns(*alive_at)));
  std::string text;
  JsonWriter json(text, kJsonCompact);
  FlameWriter(json, call.input->session().trace(), paths, weight == "memory" ? kMemory : kTime,
              order == "time")
      .write();
  return json_response(std::move(text));
}

}  // namespace

Route flame() { return {.path = "api/flame", .answer = answer_flame}; }

}  // namespace fathom::server
