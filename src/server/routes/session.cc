// What is viewed and how far it is: the page asks this first, and until all is there.
#include <algorithm>

#include "base/json_writer.h"
#include "engine/ranks/rank.h"
#include "server/route.h"

namespace fathom::server {
namespace {

constexpr std::string_view kSchema = "fathom-view/1";
constexpr std::size_t kMostSteps = 20'000;

std::string_view to_string(Viewed::State state) {
  switch (state) {
    case Viewed::State::reading:
      return "reading";
    case Viewed::State::ready:
      return "ready";
    case Viewed::State::failed:
      break;
  }
  return "failed";
}

void write_interval(JsonWriter& json, std::string_view name, const Interval& interval) {
  json.key(name).object().member("begin_ns", to_ns(interval.begin));
  json.member("end_ns", to_ns(interval.end)).end();
}

void write_inputs(JsonWriter& json, const ViewRequest& request, const OpenInput& input,
                  std::size_t open) {
  json.key("inputs").array();
  for (std::size_t i = 0; i < request.inputs.files.size(); ++i) {
    json.object().member("index", i).member("name", request.inputs.files[i].name());
    const Rank rank = i == open ? rank_of(input.session()) : Rank();
    json.member("rank", rank.number).end();
  }
  json.end();
}

void write_devices(JsonWriter& json, const OpenInput& input) {
  json.key("devices").array();
  for (const DeviceTimeline& timeline : input.session().analyses().timelines().devices) {
    const Device* const known = input.session().trace().device(timeline.device);
    json.object().member("device", timeline.device);
    json.member("name", known == nullptr ? std::string_view() : known->name).end();
  }
  json.end();
}

void write_steps(JsonWriter& json, const OpenInput& input) {
  const Steps& steps = input.session().analyses().steps();
  const std::vector<const Step*> counted = steps.counted();
  auto next = counted.begin();
  json.member("step_name", steps.name).member("step_note", steps.note).key("steps").array();
  for (std::size_t i = 0; i < std::min(steps.steps.size(), kMostSteps); ++i) {
    const Step& step = steps.steps[i];
    const bool counts = next != counted.end() && *next == &step;  // both are in the same order
    if (counts) ++next;
    json.object().member("number", step.number).member("begin_ns", to_ns(step.window.begin));
    json.member("end_ns", to_ns(step.window.end)).member("pid", step.pid);
    json.member("counted", counts).member("edge", step.edge).end();
  }
  json.end().member("steps_left_off",
                    steps.steps.size() - std::min(steps.steps.size(), kMostSteps));
}

void write_recording(JsonWriter& json, const Call& call, const OpenInput& input,
                     std::size_t number) {
  const Trace& trace = input.session().trace();
  json.member("digest", input.digest()).member("format", trace.format);
  json.member("slices", trace.slices.size()).member("origin_ns", trace.origin_ns);
  json.member("origin_is_unix", trace.origin_is_unix);
  write_interval(json, "range", input.range());
  write_interval(json, "span", trace.span);
  json.member("replaced", call.viewed.replaced(number));
  write_inputs(json, call.viewed.request(), input, number);
  json.member("analysed", input.analysed());
  if (!input.analysed()) return;
  write_devices(json, input);
  write_steps(json, input);
}

Result<Response> answer_session(const Call& call) {
  const ViewRequest& request = call.viewed.request();
  const Viewed::Progress progress = call.viewed.progress_soon();
  const Result<std::int64_t> number = call.number("input", 0);
  if (!number) return number.error();
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().member("schema", kSchema).member("version", FATHOM_VERSION);
  json.member("state", to_string(progress.state));
  // The same recording gives the same answer once it is read: a page in a file is the same, too.
  const bool reading = progress.state == Viewed::State::reading;
  json.member("progress", progress.share);
  json.member("seconds", reading ? std::optional(progress.seconds) : std::nullopt);
  json.member("message", progress.message).member("command", request.command);
  json.key("scope").object();
  for (const auto& [name, value] : request.scope) json.member(name, value);
  json.end();
  const auto index = static_cast<std::size_t>(*number);
  if (index < request.inputs.files.size()) json.member("input", request.inputs.files[index].name());
  if (progress.state == Viewed::State::ready) {
    const Result<std::shared_ptr<OpenInput>> opened = call.viewed.open(index);
    if (!opened) return opened.error();
    write_recording(json, call, **opened, index);
  }
  json.end();
  return json_response(std::move(text));
}

}  // namespace

Route session() { return {.path = "api/session", .answer = answer_session, .needs_input = false}; }

}  // namespace fathom::server
