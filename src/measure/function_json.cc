// Writes the result of measuring a function as fathom.bench/1.
#include "measure/function_json.h"

#include <cmath>

#include "base/json_writer.h"

namespace fathom::measure {
namespace {

double seconds(Duration time) { return static_cast<double>(to_ns(time)) / 1e9; }

void write_bounds(JsonWriter& json, const std::optional<Bounds>& bounds) {
  if (!bounds) {
    json.null();
    return;
  }
  json.array(kJsonInline).real(bounds->low).real(bounds->high).end();
}

/// Into an object that is open.
void write_summary(JsonWriter& json, const SampleSummary& summary) {
  json.member("count", summary.count).member("median", summary.median);
  write_bounds(json.key("median_interval"), summary.median_interval);
  json.member("mean", summary.mean)
      .member("stddev", summary.stddev)
      .member("min", summary.min)
      .member("max", summary.max)
      .member("p95", summary.p95)
      .member("p95_reason", percentile_reason(summary.count, 0.95))
      .member("p99", summary.p99)
      .member("p99_reason", percentile_reason(summary.count, 0.99))
      .member("outliers", summary.outliers);
}

void write_side(JsonWriter& json, const FunctionSide& side) {
  json.object(kJsonInline);
  write_summary(json, side.summary);
  json.member("autocorrelation", side.autocorrelation).key("steadiness");
  if (side.warm_up) {
    json.text(to_string(side.warm_up->kind)).member("steady_after", side.warm_up->after);
  } else {
    json.null().key("steady_after").null();
  }
  json.end();
}

void write_metric(JsonWriter& json, const FunctionMetric& metric) {
  json.object(kJsonLines).member("metric", metric.id).member("unit", metric.unit).key("base");
  if (metric.base) {
    write_side(json, *metric.base);
  } else {
    json.null();
  }
  write_side(json.key("new"), metric.now);
  const bool claimed = metric.base.has_value();
  const Claim& claim = metric.claim;
  json.key("verdict").value(claimed ? std::optional(to_string(claim.verdict)) : std::nullopt);
  json.key("reason").value(claimed ? std::optional(claim.reason) : std::nullopt);
  json.key("ratio");
  if (claimed && claim.ratio) {
    json.real(claim.ratio->ratio);
    write_bounds(json.key("ratio_interval"), claim.ratio->interval);
  } else {
    json.null().key("ratio_interval").null();
  }
  json.member("p", claimed ? claim.p : std::nullopt).end();
}

void write_plan(JsonWriter& json, const FunctionOptions& options) {
  const SamplingPlan& plan = options.plan;
  json.key("plan")
      .object()
      .member("runs", plan.runs)
      .member("time_s", plan.time ? std::optional(seconds(*plan.time)) : std::nullopt)
      .member("resolution", plan.resolution)
      .member("until_precise", plan.until_precise)
      .member("seed", plan.seed)
      .member("warmup", options.warmup)
      .member("prepare", "")
      .key("timeout_s")
      .null()
      .member("input", "")
      .member("ignore_failure", false)
      .end();
}

void write_load(JsonWriter& json, const std::optional<std::array<double, 3>>& load) {
  if (!load) {
    json.null();
    return;
  }
  json.array(kJsonInline);
  for (const double value : *load) json.real(value);
  json.end();
}

void write_pairs(JsonWriter& json, const std::vector<std::pair<std::string, std::string>>& pairs) {
  json.object(kJsonLines);
  for (const auto& [name, value] : pairs) json.member(name, value);
  json.end();
}

void write_conditions(JsonWriter& json, const Conditions& conditions) {
  json.key("conditions")
      .object(kJsonLines)
      .member("host", conditions.host.name)
      .member("kernel", conditions.host.kernel)
      .member("cpu", conditions.host.cpu)
      .member("cores", conditions.host.cores)
      .member("cores_allowed", conditions.host.cores_allowed)
      .member("memory_bytes", conditions.host.memory)
      .member("governor", conditions.host.governor)
      .member("container", conditions.host.container)
      .member("cgroup", conditions.cgroup.path)
      .member("cgroup_cpus", conditions.cgroup.cpus)
      .member("cgroup_memory_bytes", conditions.cgroup.memory_limit)
      .member("throttled", conditions.throttled);
  write_load(json.key("load_at_start"), conditions.load_at_start);
  write_load(json.key("load_at_end"), conditions.load_at_end);
  write_pairs(json.key("environment"), conditions.environment);
  json.end();
}

/// What a process has and a function has not is null.
void write_run(JsonWriter& json, const FunctionSample& sample) {
  json.object(kJsonInline)
      .member("side", sample.side == Side::base ? "base" : "new")
      .member("warmup", false)
      .member("pair", sample.pair)
      .member("begin_ns", sample.begin_ns)
      .member("wall_ns", std::llround(sample.ns))
      .member("user_ns", sample.user_ns)
      .member("system_ns", sample.system_ns);
  for (const std::string_view name :
       {"peak_memory_bytes", "steps", "step_ns", "first_step_ns", "loader_wait_ns"})
    json.key(name).null();
  json.member("exit_code", 0).end();
}

void write_clocks(JsonWriter& json, const ClockSummary& clocks) {
  if (clocks.readings == 0) {
    json.null();
    return;
  }
  json.object(kJsonInline)
      .member("readings", clocks.readings)
      .member("sm_mhz", clocks.median_mhz)
      .key("reasons")
      .object();
  for (const ReasonShare& each : clocks.reasons) json.member(each.reason, each.share);
  json.end().end();
}

void write_gaps(JsonWriter& json, const std::optional<SampleSummary>& gaps) {
  if (!gaps) {
    json.null();
    return;
  }
  json.object(kJsonInline);
  write_summary(json, *gaps);
  json.end();
}

/// A member with one value for each side, written by `write(side)`.
template <typename Write>
void write_sides(JsonWriter& json, std::string_view name, bool paired, const Write& write) {
  json.key(name).object(kJsonInline).key("base");
  if (paired) {
    write(Side::base);
  } else {
    json.null();
  }
  json.key("new");
  write(Side::now);
  json.end();
}

void write_function(JsonWriter& json, const FunctionResult& result) {
  const FunctionOutcome& outcome = result.outcome;
  const auto at = [](Side side) { return static_cast<std::size_t>(side); };
  const auto text_or_null = [&](std::string_view name, const std::string& text) {
    json.member(name, text.empty() ? std::nullopt : std::optional(text));
  };
  json.key("function").object(kJsonLines).member("mode", outcome.mode);
  json.member("clock", outcome.clock);
  text_or_null("l2", result.l2);
  text_or_null("device", result.device);
  json.member("timer_cost_ns", to_ns(outcome.timer_cost))
      .member("least_block_ns", to_ns(outcome.least_block));
  write_sides(json, "calls", result.paired(),
              [&](Side side) { json.integer(outcome.calls[at(side)]); });
  write_sides(json, "first_call_ns", result.paired(),
              [&](Side side) { json.value(outcome.first_call_ns[at(side)]); });
  write_sides(json, "clocks", result.paired(), [&](Side side) {
    write_clocks(json, side == Side::base ? result.base_clocks : result.now_clocks);
  });
  write_sides(json, "gaps_ns", result.paired(), [&](Side side) {
    write_gaps(json, side == Side::base ? result.base_gaps : result.now_gaps);
  });
  write_pairs(json.key("facts"), result.facts);
  json.key("notes").texts(result.notes);
  json.end();
}

}  // namespace

std::string function_json(const FunctionResult& result, bool runs, std::string_view indent) {
  const FunctionOutcome& outcome = result.outcome;
  std::string out;
  JsonWriter json(out, kJsonInline, indent);
  json.object(kJsonLines).member("schema", "fathom.bench/1").key("base");
  if (result.paired()) {
    json.array().text(result.options.base).end();
  } else {
    json.null();
  }
  json.key("new").array().text(result.options.now).end();
  write_plan(json, result.options);
  json.member("stopped",
              outcome.failed ? std::string_view("interrupted") : to_string(outcome.sampled.stopped))
      .member("pairs", outcome.sampled.now.size())
      .member("elapsed_s", seconds(outcome.elapsed))
      .key("announced");
  if (const auto& announced = outcome.sampled.announced) {
    json.object()
        .member("after_pairs", announced->after)
        .member("pairs", announced->pairs)
        .member("time_s", seconds(announced->time))
        .end();
  } else {
    json.null();
  }
  json.key("headline")
      .value(result.metrics.empty() ? std::nullopt : std::optional(result.metrics.front().id));
  json.key("metrics").array(kJsonLines);
  for (const FunctionMetric& metric : result.metrics) write_metric(json, metric);
  json.end();
  write_conditions(json, outcome.conditions);
  json.key("runs").array(kJsonLines);
  if (runs) {
    for (const FunctionSample& sample : outcome.samples) write_run(json, sample);
  }
  json.end();
  write_function(json, result);
  json.end();
  return out;
}

}  // namespace fathom::measure
