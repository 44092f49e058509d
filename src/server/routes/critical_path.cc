// The critical path of the steps in a stretch of time, as pieces to draw over the timeline.
#include "base/json_writer.h"
#include "base/stop.h"
#include "replay/replay.h"
#include "server/routes/area.h"

namespace fathom::server {
namespace {

constexpr std::size_t kMost = 5000;

Result<Response> answer_critical_path(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const Replay& replay = call.input->replay();
  std::vector<PathPiece> pieces;
  std::size_t left_off = 0;
  for (const Step& step : call.input->context().steps().steps) {
    if (step.window.end <= stretch->begin || step.window.begin >= stretch->end) continue;
    stop_point();
    for (const PathPiece& piece : replay.critical_path(step)) {
      if (piece.interval.end <= stretch->begin || piece.interval.begin >= stretch->end) continue;
      pieces.size() < kMost ? pieces.push_back(piece) : static_cast<void>(++left_off);
    }
  }
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().key("slices").array();
  for (const PathPiece& piece : pieces) {
    if (piece.slice.valid()) json.integer(piece.slice.value);
  }
  json.end().key("pieces").array();
  for (const PathPiece& piece : pieces) {
    json.object().member("begin_ns", to_ns(piece.interval.begin));
    json.member("end_ns", to_ns(piece.interval.end)).member("part", to_string(piece.part));
    json.key("slice");
    piece.slice.valid() ? json.integer(piece.slice.value) : json.null();
    json.end();
  }
  json.end().member("left_off", left_off).end();
  return json_response(std::move(text));
}

}  // namespace

Route critical_path() { return {.path = "api/critical-path", .answer = answer_critical_path}; }

}  // namespace fathom::server
