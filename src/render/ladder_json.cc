// Writes ladders as JSON.
#include "base/json_writer.h"
#include "render/compare_json_parts.h"
#include "render/ladder_text.h"

namespace fathom {
namespace {

void write_change(JsonWriter& json, std::string_view key, const std::optional<Comparison>& pair) {
  json.key(key);
  if (!pair) {
    json.null();
    return;
  }
  json.object(kJsonLines)
      .member("comparability", to_string(pair->comparability))
      .member("change_ns", pair->change_ns)
      .member("ratio", pair->ratio);
  write_bounds(json, "ratio_interval", pair->ratio_interval);
  json.member("ratio_note", pair->ratio_note);
  write_conditions(json, *pair);
  json.key("causes").array(kJsonLines);
  for (const CauseGroup& group : pair->causes) {
    json.object(kJsonInline)
        .member("cause", to_string(group.cause))
        .member("change_ns", group.change_ns)
        .member("what", pair->rows[group.rows.front()].what)
        .end();
  }
  json.end().key("notes").texts(pair->notes).end();
}

}  // namespace

std::string render_ladder_json(const Ladder& ladder, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.ladder/1").key("rank");
  if (ladder.rank == kAbsent) {
    json.null();
  } else {
    json.integer(ladder.rank);
  }
  write_target(json, ladder.target, ladder.progress);
  json.key("variants").array(kJsonLines);
  for (const LadderVariant& variant : ladder.variants) {
    json.object(kJsonLines);
    write_side(json.key("side"), variant.side);
    json.member("peak_allocated_bytes", variant.peak_bytes);
    write_change(json, "step", variant.step);
    write_change(json, "in_all", variant.in_all);
    json.end();
  }
  json.end().key("notes").texts(ladder.notes).end();
  return out;
}

}  // namespace fathom
