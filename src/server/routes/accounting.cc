// The accounting lane of a device.
#include <algorithm>

#include "analysis/timeline/account_segments.h"
#include "base/json_writer.h"
#include "server/routes/area.h"

namespace fathom::server {
namespace {

constexpr std::int64_t kParts = 2000;

void write_buckets(JsonWriter& json, std::string_view key,
                   const std::vector<std::pair<std::string_view, Duration>>& buckets) {
  json.key(key).array();
  for (const auto& [bucket, time] : buckets)
    json.object().member("id", bucket).member("ns", to_ns(time)).end();
  json.end();
}

void write_segments(JsonWriter& json, const AccountLane& lane) {
  json.key("segments").array();
  for (const AccountSegment& segment : lane.segments) {
    json.object().member("begin_ns", to_ns(segment.interval.begin));
    json.member("end_ns", to_ns(segment.interval.end)).member("bucket", segment.bucket);
    json.key("cause_slice");
    if (segment.cause.valid()) {
      json.integer(segment.cause.value);
    } else {
      json.null();
    }
    if (!segment.parts.empty()) write_buckets(json, "parts", segment.parts);
    json.end();
  }
  json.end();
}

Result<Response> answer_accounting(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const TimelineModel& model = call.input->timeline();
  std::optional<std::int32_t> device;
  if (!model.devices.empty()) {
    const Result<std::int64_t> asked = call.number("device", model.devices.front());
    if (!asked) return asked.error();
    if (std::ranges::find(model.devices, *asked) == model.devices.end())
      return Error{ErrorCode::not_found, "no work of that device is in the trace"};
    device = static_cast<std::int32_t>(*asked);
  }
  const Duration least((to_ns(stretch->length()) + kParts - 1) / kParts);
  const AccountLane lane = account_lane(call.input->context(), device, *stretch, least);
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().member("device", device).member("merged", lane.merged);
  write_segments(json, lane);
  write_buckets(json, "buckets", lane.buckets);
  json.end();
  return json_response(std::move(text));
}

}  // namespace

Route accounting() {
  return {
      .path = "api/accounting", .answer = answer_accounting, .of_first_screen = shows_the_whole};
}

}  // namespace fathom::server
