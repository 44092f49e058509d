// Writes the result of a bench for programs.
#include "cli/bench_json.h"

#include "base/json_writer.h"
#include "cli/bench_json_parts.h"

namespace fathom::cli {
namespace {

using measure::BenchRun;
using measure::MeasuredMetric;
using measure::MeasuredSide;

void write_side(JsonWriter& json, const MeasuredSide& side) {
  json.object(kJsonInline);
  write_summary(json, side.summary);
  json.member("autocorrelation", side.autocorrelation);
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
      .member("unit", measure::to_string(metric.unit));
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
  } else {
    write_claim(json, metric.claim);
  }
  json.member("clocks_differ", metric.clocks_differ).end();
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

void write_target(JsonWriter& json, const std::optional<measure::TargetProgress>& target) {
  if (!target) {
    json.null();
    return;
  }
  json.object(kJsonInline)
      .member("wanted", target->wanted)
      .member("state", measure::to_string(target->state))
      .member("saved", target->saved);
  write_bounds(json.key("saved_interval"), target->bounds);
  json.end();
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
  write_target(json.key("target"), result.target);
  json.key("metrics").array(kJsonLines);
  for (const MeasuredMetric& metric : result.metrics) write_metric(json, metric);
  json.end();
  write_conditions(json.key("conditions"), outcome.conditions);
  json.key("runs").array(kJsonLines);
  for (const BenchRun& run : outcome.runs) write_run(json, run);
  json.end().end();
  return out;
}

std::string bench_csv(const BenchResult& result) {
  std::string out = "side,warmup,pair,begin_ns,wall_ns,user_ns,system_ns,peak_memory_bytes,steps,";
  for (const measure::Metric& metric : measure::all_metrics()) {
    if (has_column(metric)) out += column_of(metric) + ",";
  }
  out += "exit_code\n";
  for (const BenchRun& run : result.outcome.runs) {
    const measure::ChildRun& child = run.child;
    out += std::string(name_of(run.side)) + (run.warmup ? ",true," : ",false,") +
           std::to_string(run.pair) + "," + std::to_string(run.begin_ns) + "," +
           std::to_string(child.wall_ns) + "," + std::to_string(child.user_ns) + "," +
           std::to_string(child.system_ns) + "," +
           (child.peak_bytes ? std::to_string(*child.peak_bytes) : "") + "," +
           (run.steps ? std::to_string(run.steps->ns.size()) : "") + ",";
    out += metric_cells(run);
    out += std::to_string(exit_code_of(child)) + "\n";
  }
  return out;
}

}  // namespace fathom::cli
