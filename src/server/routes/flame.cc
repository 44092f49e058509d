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

class FlameWriter {
 public:
  FlameWriter(JsonWriter& json, const Trace& trace, const std::vector<FlamePath>& paths)
      : json_(json), trace_(trace), paths_(paths), children_(paths.size()) {
    for (std::uint32_t path = 1; path < paths.size(); ++path)
      children_[paths[path].parent].push_back(path);
    for (std::vector<std::uint32_t>& some : children_) {
      std::ranges::sort(some, [this](std::uint32_t a, std::uint32_t b) {
        if (paths_[a].total != paths_[b].total) return paths_[a].total > paths_[b].total;
        return trace_.text(paths_[a].name) < trace_.text(paths_[b].name);
      });
    }
    // So many are shown that what is left out is small, or that no more fit.
    std::vector<Duration> totals;
    totals.reserve(paths.size());
    for (const FlamePath& path : paths) totals.push_back(path.total);
    std::ranges::sort(totals, std::ranges::greater());
    least_ = std::max(paths.front().total / kSmall,
                      totals.size() > kMostPaths ? totals[kMostPaths] : Duration{});
  }

  /// The tree is as deep as kFlameDepth allows.
  void write(std::uint32_t at = 0) {
    const FlamePath& path = paths_[at];
    json_.object().member("name", at == 0 ? std::string_view("all") : trace_.text(path.name));
    json_.member("slices", path.slices).member("total_ns", to_ns(path.total));
    json_.member("self_ns", to_ns(path.self)).key("children").array();
    std::uint64_t merged = 0;
    Duration time{};
    for (const std::uint32_t child : children_[at]) {
      if (paths_[child].total > least_ || least_ == Duration{}) {
        write(child);
        continue;
      }
      ++merged;
      time += paths_[child].total;
    }
    json_.end();
    if (merged > 0) json_.member("merged", merged).member("merged_ns", to_ns(time));
    json_.end();
  }

 private:
  JsonWriter& json_;
  const Trace& trace_;
  const std::vector<FlamePath>& paths_;
  std::vector<std::vector<std::uint32_t>> children_;
  Duration least_{};
};

Result<Response> answer_flame(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const std::string_view weight = call.text("weight");
  if (!weight.empty() && weight != "time")
    return Error{ErrorCode::unsupported, "weight: only time is computed"};
  const TimelineModel& model = call.input->timeline();
  const Result<std::vector<std::size_t>> tracks = model.lane_tracks(call.text("tracks"));
  if (!tracks) return tracks.error();
  const std::vector<FlamePath> paths =
      flame_of(call.input->context(), model.lanes, *tracks, *stretch);
  std::string text;
  JsonWriter json(text, kJsonCompact);
  FlameWriter(json, call.input->session().trace(), paths).write();
  return json_response(std::move(text));
}

}  // namespace

Route flame() { return {.path = "api/flame", .answer = answer_flame}; }

}  // namespace fathom::server
