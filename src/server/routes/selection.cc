// Sums over an area of the timeline, and the accounting of exactly its time.
#include "analysis/timeline/account_segments.h"
#include "analysis/timeline/area_sums.h"
#include "base/json_writer.h"
#include "server/routes/area.h"

namespace fathom::server {
namespace {

constexpr std::size_t kMostRows = 1000;

void write_rows(JsonWriter& json, const Trace& trace, const std::vector<AreaSum>& rows) {
  const std::size_t shown = std::min(rows.size(), kMostRows);
  std::uint64_t slices = 0;
  for (const AreaSum& row : rows) slices += row.slices;
  json.member("slices", slices).key("rows").array();
  for (std::size_t i = 0; i < shown; ++i) {
    const AreaSum& row = rows[i];
    json.object();
    if (row.name.valid()) {
      json.member("name", trace.text(row.name));
    } else {
      json.key("name").null();
    }
    json.member("category", trace.text(trace.categories[row.category].name));
    json.member("slices", row.slices).member("total_ns", to_ns(row.total)).key("covered_ns");
    if (row.covered) {
      json.integer(to_ns(*row.covered));
    } else {
      json.null();
    }
    json.end();
  }
  json.end().member("left_off", rows.size() - shown);
}

void write_account(JsonWriter& json, const OpenInput& input, std::optional<std::int32_t> device,
                   Interval stretch) {
  const AccountLane lane =
      account_lane(input.context(), device, stretch, stretch.length() + Duration(1));
  json.object().member("device", device).key("buckets").array();
  for (const auto& [bucket, time] : lane.buckets)
    json.object().member("id", bucket).member("ns", to_ns(time)).end();
  json.end().end();
}

Result<Response> answer_selection(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const TimelineModel& model = call.input->timeline();
  const Result<std::vector<std::size_t>> tracks = model.lane_tracks(call.text("tracks"));
  if (!tracks) return tracks.error();
  const std::string_view group = call.text("group");
  if (!group.empty() && group != "name" && group != "category")
    return Error{ErrorCode::invalid_argument, "group: it is name or category"};
  const SumBy by = group == "category" ? SumBy::category : SumBy::name;
  const Trace& trace = call.input->session().trace();
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object();
  write_rows(json, trace, area_sums(trace, model.lanes, *tracks, *stretch, by));
  json.key("accounting").array();
  for (const std::int32_t device : model.devices)
    write_account(json, *call.input, device, *stretch);
  if (model.devices.empty()) write_account(json, *call.input, {}, *stretch);
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route selection() { return {.path = "api/selection", .answer = answer_selection}; }

}  // namespace fathom::server
