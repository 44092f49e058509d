// Writes the result of a bench for programs.
#include "cli/bench_json.h"

#include "base/json_writer.h"
#include "capture/launcher/redact.h"
#include "measure/measured_json.h"
#include "measure/program_facts.h"

namespace fathom::cli {
namespace {

using measure::BenchRun;
using measure::column_of;
using measure::exit_code_of;
using measure::has_column;
using measure::MeasuredMetric;
using measure::metric_cells;
using measure::name_of;
using measure::seconds;
using measure::write_bounds;

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

measure::PlanWords plan_words(const measure::BenchOptions& options) {
  return {.warmup = options.warmup,
          .prepare = options.prepare,
          .timeout = options.child.timeout,
          .input = options.child.input,
          .ignore_failure = options.ignore_failure};
}

std::string bench_json(const BenchResult& result, std::string_view indent) {
  const measure::BenchOutcome& outcome = result.outcome;
  std::string out;
  JsonWriter json(out, kJsonInline, indent);
  json.object(kJsonLines).member("schema", "fathom.bench/1");
  json.key("base");
  if (result.paired()) {
    json.texts(capture::redact_command(result.options.base));
  } else {
    json.null();
  }
  json.key("new").texts(capture::redact_command(result.options.command));
  write_plan(json.key("plan"), result.options.plan, plan_words(result.options));
  json.member("stopped", outcome.interrupted != 0 ? "interrupted"
                                                  : measure::to_string(outcome.sampled.stopped));
  json.member("pairs", outcome.sampled.now.size()).member("elapsed_s", seconds(outcome.elapsed));
  write_announced(json.key("announced"), outcome.sampled.announced);
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
  json.key("programs").object(kJsonLines).key("base");
  if (result.paired()) {
    measure::write_texts(
        json, measure::whole_facts(measure::facts_of(outcome.runs, measure::Side::base)));
  } else {
    json.null();
  }
  measure::write_texts(json.key("new"),
                       measure::whole_facts(measure::facts_of(outcome.runs, measure::Side::now)));
  json.end().key("runs").array(kJsonLines);
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
