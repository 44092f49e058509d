// Writes comparisons as JSON.
#include "render/compare_json.h"

#include "base/json_writer.h"
#include "compare/ladder.h"
#include "render/compare_json_parts.h"

namespace fathom {
namespace {

void write_part(JsonWriter& json, const ComparedPart& part) {
  json.member("change_ns", part.change_ns)
      .member("base_sum_ns", part.base_sum_ns)
      .member("new_sum_ns", part.new_sum_ns)
      .member("base_calls", part.base_calls)
      .member("new_calls", part.new_calls);
}

void write_row(JsonWriter& json, const ComparedRow& row) {
  json.object(kJsonInline)
      .member("bucket", row.bucket.name())
      .member("phase", row.phase)
      .member("what", row.what)
      .member("module", row.module)
      .member("shapes", row.shapes)
      .member("place", row.place)
      .member("alignment", to_string(row.alignment))
      .member("cause", to_string(row.cause))
      .member("detail", row.detail);
  write_part(json, row.part);
  json.member("calls_change_ns", row.calls_change_ns)
      .member("time_change_ns", row.time_change_ns)
      .member("clock_change_ns", row.clock_change_ns)
      .member("cycles_change_ns", row.cycles_change_ns);
  json.key("kernels").array();
  for (const ComparedKernel& kernel : row.kernels) {
    json.object().member("name", kernel.name);
    write_part(json, kernel.part);
    json.end();
  }
  json.end().member("calls_in_step", row.calls_in_step);
  json.key("occurrences").array();
  for (const ComparedOccurrence& each : row.occurrences) {
    json.object().member("number", each.number);
    write_part(json, each.part);
    json.end();
  }
  json.end().end();
}

void write_numbers(JsonWriter& json, const std::vector<std::size_t>& numbers) {
  json.array(kJsonInline);
  for (const std::size_t number : numbers) json.integer(number);
  json.end();
}

void write_phases(JsonWriter& json, const Comparison& pair) {
  json.key("phases").array(kJsonLines);
  for (const ComparedPhase& phase : pair.phases) {
    json.object(kJsonLines).member("phase", phase.phase);
    write_part(json, phase.part);
    json.key("modules").array(kJsonLines);
    for (const ComparedModule& module : phase.modules) {
      json.object(kJsonInline).member("module", module.module);
      write_part(json, module.part);
      write_numbers(json.key("rows"), module.rows);
      json.end();
    }
    json.end().end();
  }
  json.end();
}

void write_lists(JsonWriter& json, const Comparison& pair) {
  json.key("buckets").array(kJsonLines);
  for (const ComparedBucket& bucket : pair.buckets) {
    json.object(kJsonInline).member("bucket", bucket.bucket.name());
    write_part(json, bucket.part);
    write_numbers(json.key("rows"), bucket.rows);
    json.end();
  }
  json.end();
  write_phases(json, pair);
  json.key("causes").array(kJsonLines);
  for (const CauseGroup& group : pair.causes) {
    json.object(kJsonInline)
        .member("cause", to_string(group.cause))
        .member("change_ns", group.change_ns);
    write_numbers(json.key("rows"), group.rows);
    json.end();
  }
  json.end().key("rows").array(kJsonLines);
  for (const ComparedRow& row : pair.rows) write_row(json, row);
  json.end();
}

void write_pair(JsonWriter& json, const Comparison& pair, std::int64_t rank) {
  json.object(kJsonLines);
  json.key("rank");
  if (rank == kAbsent) {
    json.null();
  } else {
    json.integer(rank);
  }
  json.member("comparability", to_string(pair.comparability));
  write_side(json.key("base"), pair.base);
  write_side(json.key("new"), pair.now);
  json.member("change_ns", pair.change_ns).member("ratio", pair.ratio);
  write_bounds(json, "ratio_interval", pair.ratio_interval);
  json.member("ratio_note", pair.ratio_note)
      .member("mean_change_ns", pair.mean_change_ns)
      .member("skew_ns", pair.skew_ns);
  json.key("aligned").object(kJsonInline);
  for (std::size_t i = 0; i < kAlignments; ++i)
    json.member(to_string(static_cast<Alignment>(i)), pair.aligned[i]);
  json.end().member("aligned_by_occurrence", pair.aligned_by_occurrence);
  write_conditions(json, pair);
  write_lists(json, pair);
  json.key("notes").array(kJsonInline);
  for (const std::string& note : pair.notes) json.text(note);
  json.end().end();
}

}  // namespace

std::string render_compare_json(const ComparedSides& sides, const std::optional<Target>& target,
                                std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.compare/1").member("shown", sides.shown);
  const Comparison& shown = sides.pairs[sides.shown];
  std::optional<TargetProgress> progress;
  if (target) progress = progress_of(*target, shown);
  write_target(json, target, progress);
  json.key("pairs").array();
  for (std::size_t i = 0; i < sides.pairs.size(); ++i)
    write_pair(json, sides.pairs[i], sides.ranks[i]);
  json.end();
  json.key("notes").array(kJsonInline);
  for (const std::string& note : sides.notes) json.text(note);
  json.end().end();
  return out;
}

}  // namespace fathom
