// Writes comparisons as JSON.
#include "render/compare_json.h"

#include "base/json_writer.h"

namespace fathom {
namespace {

void write_bounds(JsonWriter& json, std::string_view key, const std::optional<Bounds>& bounds) {
  json.key(key);
  if (!bounds) {
    json.null();
    return;
  }
  json.array(kJsonInline).real(bounds->low).real(bounds->high).end();
}

void write_side(JsonWriter& json, const ComparedSide& side) {
  const SampleSummary& step = side.step_ns;
  json.object(kJsonInline)
      .member("input", side.input)
      .member("step_name", side.step_name)
      .member("steps", side.steps)
      .member("steps_left_out", side.steps_left_out)
      .member("on_device", side.on_device)
      .member("median_ns", step.median);
  write_bounds(json, "median_interval_ns", step.median_interval);
  json.member("mean_ns", step.mean)
      .member("stddev_ns", step.stddev)
      .member("min_ns", step.min)
      .member("max_ns", step.max)
      .member("p95_ns", step.p95)
      .member("p95_reason", percentile_reason(step.count, 0.95))
      .member("p99_ns", step.p99)
      .member("p99_reason", percentile_reason(step.count, 0.99))
      .member("outliers", step.outliers)
      .end();
}

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
      .member("what", row.what)
      .member("module", row.module)
      .member("shapes", row.shapes)
      .member("place", row.place)
      .member("alignment", to_string(row.alignment))
      .member("cause", to_string(row.cause))
      .member("detail", row.detail);
  write_part(json, row.part);
  json.member("calls_change_ns", row.calls_change_ns).member("time_change_ns", row.time_change_ns);
  json.key("kernels").array();
  for (const ComparedKernel& kernel : row.kernels) {
    json.object().member("name", kernel.name);
    write_part(json, kernel.part);
    json.end();
  }
  json.end().end();
}

void write_numbers(JsonWriter& json, const std::vector<std::size_t>& numbers) {
  json.array(kJsonInline);
  for (const std::size_t number : numbers) json.integer(number);
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
  json.end().key("causes").array(kJsonLines);
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

void write_conditions(JsonWriter& json, const Comparison& pair) {
  json.key("differs").array(kJsonLines);
  for (const ComparedCondition& condition : pair.differs) {
    json.object(kJsonInline)
        .member("id", condition.id)
        .member("title", condition.title)
        .member("base", condition.base)
        .member("new", condition.now)
        .end();
  }
  json.end().key("counters").array(kJsonLines);
  for (const ComparedCounter& counter : pair.counters) {
    json.object(kJsonInline)
        .member("id", counter.id)
        .member("title", counter.title)
        .member("unit", counter.unit)
        .member("per_step", counter.per_step)
        .member("base", counter.base)
        .member("new", counter.now)
        .member("equal", counter.equal)
        .end();
  }
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
  json.end();
  write_conditions(json, pair);
  write_lists(json, pair);
  json.key("notes").array(kJsonInline);
  for (const std::string& note : pair.notes) json.text(note);
  json.end().end();
}

}  // namespace

std::string render_compare_json(const ComparedSides& sides, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.compare/1").member("shown", sides.shown);
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
