// Writes parts of comparisons as JSON.
#include "render/compare_json_parts.h"

namespace fathom {

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
      .member("times_only", side.times_only)
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
      .member("steadiness",
              side.warm_up ? std::optional(to_string(side.warm_up->kind)) : std::nullopt)
      .member("steady_after", side.warm_up && !side.never_steady()
                                  ? std::optional(side.warm_up->after)
                                  : std::nullopt)
      .member("autocorrelation", side.autocorrelation)
      .end();
}

void write_differs(JsonWriter& json, const std::vector<ComparedCondition>& conditions) {
  json.key("differs").array(kJsonLines);
  for (const ComparedCondition& condition : conditions) {
    json.object(kJsonInline)
        .member("id", condition.id)
        .member("title", condition.title)
        .member("base", condition.base)
        .member("new", condition.now)
        .end();
  }
  json.end();
}

void write_conditions(JsonWriter& json, const Comparison& pair) {
  write_differs(json, pair.differs);
  json.key("counters").array(kJsonLines);
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

void write_target(JsonWriter& json, const std::optional<Target>& target,
                  const std::optional<TargetProgress>& progress) {
  json.key("target");
  if (!target || !progress) {
    json.null();
    return;
  }
  json.object(kJsonInline)
      .member("text", target->text)
      .member("target_ns", progress->target_ns)
      .member("way", progress->way)
      .member("reached", to_string(progress->reached))
      .member("reason", progress->reason)
      .end();
}

}  // namespace fathom
