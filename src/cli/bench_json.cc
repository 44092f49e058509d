// Writes the result of a bench for programs.
#include "cli/bench_json.h"

#include <array>
#include <cmath>

#include <sys/wait.h>

#include "base/json_writer.h"

namespace fathom::cli {
namespace {

using measure::BenchRun;
using measure::MeasuredMetric;
using measure::MeasuredSide;
using measure::Side;

double seconds(Duration time) { return static_cast<double>(to_ns(time)) / 1e9; }

std::optional<double> seconds(const std::optional<Duration>& time) {
  return time ? std::optional(seconds(*time)) : std::nullopt;
}

std::string_view name_of(Side side) { return side == Side::base ? "base" : "new"; }

void write_bounds(JsonWriter& json, const std::optional<Bounds>& bounds) {
  if (!bounds) {
    json.null();
    return;
  }
  json.array(kJsonInline).real(bounds->low).real(bounds->high).end();
}

void write_side(JsonWriter& json, const MeasuredSide& side) {
  const SampleSummary& summary = side.summary;
  json.object(kJsonInline).member("count", summary.count).member("median", summary.median);
  write_bounds(json.key("median_interval"), summary.median_interval);
  json.member("mean", summary.mean)
      .member("stddev", summary.stddev)
      .member("min", summary.min)
      .member("max", summary.max)
      .member("p95", summary.p95)
      .member("p95_reason", percentile_reason(summary.count, 0.95))
      .member("p99", summary.p99)
      .member("p99_reason", percentile_reason(summary.count, 0.99))
      .member("outliers", summary.outliers)
      .member("autocorrelation", side.autocorrelation);
  json.key("steadiness");
  if (side.warm_up) {
    json.text(to_string(side.warm_up->kind)).member("steady_after", side.warm_up->after);
  } else {
    json.null().key("steady_after").null();
  }
  json.end();
}

void write_metric(JsonWriter& json, const MeasuredMetric& metric) {
  json.object(kJsonLines)
      .member("metric", metric.id)
      .member("unit", metric.unit == measure::Unit::ns ? "ns" : "bytes");
  json.key("base");
  if (metric.base) {
    write_side(json, *metric.base);
  } else {
    json.null();
  }
  write_side(json.key("new"), metric.now);
  json.key("verdict");
  if (!metric.base) {
    json.null()
        .key("reason")
        .null()
        .key("ratio")
        .null()
        .key("ratio_interval")
        .null()
        .key("p")
        .null();
    json.end();
    return;
  }
  const measure::Claim& claim = metric.claim;
  json.text(to_string(claim.verdict)).member("reason", claim.reason).key("ratio");
  if (claim.ratio) {
    json.real(claim.ratio->ratio);
    write_bounds(json.key("ratio_interval"), claim.ratio->interval);
  } else {
    json.null().key("ratio_interval").null();
  }
  json.member("p", claim.p).end();
}

void write_run(JsonWriter& json, const BenchRun& run) {
  json.object(kJsonInline)
      .member("side", name_of(run.side))
      .member("warmup", run.warmup)
      .member("pair", run.pair)
      .member("begin_ns", run.begin_ns)
      .member("wall_ns", run.child.wall_ns)
      .member("user_ns", run.child.user_ns)
      .member("system_ns", run.child.system_ns)
      .member("peak_memory_bytes", run.child.peak_bytes)
      .member("steps", run.steps ? std::optional(run.steps->ns.size()) : std::nullopt);
  for (const measure::Metric& metric : measure::all_metrics()) {
    if (metric.of_steps) json.member(std::string(metric.id) + "_ns", metric.value(run));
  }
  json.member("exit_code", WIFEXITED(run.child.status) ? WEXITSTATUS(run.child.status)
                                                       : 128 + WTERMSIG(run.child.status))
      .end();
}

void write_plan(JsonWriter& json, const BenchResult& result) {
  const measure::SamplingPlan& plan = result.options.plan;
  json.key("plan")
      .object()
      .member("runs", plan.runs)
      .member("time_s", seconds(plan.time))
      .member("resolution", plan.resolution)
      .member("until_precise", plan.until_precise)
      .member("seed", plan.seed)
      .member("warmup", result.options.warmup)
      .member("prepare", result.options.prepare)
      .member("timeout_s", seconds(result.options.child.timeout))
      .member("input", result.options.child.input)
      .member("ignore_failure", result.options.ignore_failure)
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

void write_conditions(JsonWriter& json, const measure::Conditions& conditions) {
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
  json.key("environment").object(kJsonLines);
  for (const auto& [name, value] : conditions.environment) json.member(name, value);
  json.end().end();
}

}  // namespace

std::string bench_json(const BenchResult& result, std::string_view indent) {
  const measure::BenchOutcome& outcome = result.outcome;
  std::string out;
  JsonWriter json(out, kJsonInline, indent);
  json.object(kJsonLines).member("schema", "fathom.bench/1");
  json.key("base");
  if (result.paired()) {
    json.texts(result.options.base);
  } else {
    json.null();
  }
  json.key("new").texts(result.options.command);
  write_plan(json, result);
  json.member("stopped", outcome.failure            ? "failed"
                         : outcome.interrupted != 0 ? "interrupted"
                                                    : measure::to_string(outcome.sampled.stopped));
  json.member("pairs", outcome.sampled.now.size()).member("elapsed_s", seconds(outcome.elapsed));
  json.key("announced");
  if (const auto& announced = outcome.sampled.announced) {
    json.object()
        .member("after_pairs", announced->after)
        .member("pairs", announced->pairs)
        .member("time_s", seconds(announced->time))
        .end();
  } else {
    json.null();
  }
  json.key("headline");
  if (outcome.headline.empty()) {
    json.null();
  } else {
    json.text(outcome.headline);
  }
  json.key("metrics").array(kJsonLines);
  for (const MeasuredMetric& metric : result.metrics) write_metric(json, metric);
  json.end();
  write_conditions(json, outcome.conditions);
  json.key("runs").array(kJsonLines);
  for (const BenchRun& run : outcome.runs) write_run(json, run);
  json.end().end();
  return out;
}

std::string bench_csv(const BenchResult& result) {
  std::string out =
      "side,warmup,pair,begin_ns,wall_ns,user_ns,system_ns,peak_memory_bytes,steps,step_ns,"
      "first_step_ns,loader_wait_ns,exit_code\n";
  for (const BenchRun& run : result.outcome.runs) {
    const measure::ChildRun& child = run.child;
    const int code =
        WIFEXITED(child.status) ? WEXITSTATUS(child.status) : 128 + WTERMSIG(child.status);
    out += std::string(name_of(run.side)) + (run.warmup ? ",true," : ",false,") +
           std::to_string(run.pair) + "," + std::to_string(run.begin_ns) + "," +
           std::to_string(child.wall_ns) + "," + std::to_string(child.user_ns) + "," +
           std::to_string(child.system_ns) + "," +
           (child.peak_bytes ? std::to_string(*child.peak_bytes) : "") + "," +
           (run.steps ? std::to_string(run.steps->ns.size()) : "") + ",";
    for (const measure::Metric& metric : measure::all_metrics()) {
      if (!metric.of_steps) continue;
      const std::optional<double> value = metric.value(run);
      out += (value ? std::to_string(std::llround(*value)) : "") + ",";
    }
    out += std::to_string(code) + "\n";
  }
  return out;
}

}  // namespace fathom::cli
