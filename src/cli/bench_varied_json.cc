// Writes sweeps, crossovers and bisections for programs.
#include "cli/bench_varied_json.h"

#include <cmath>

#include "base/json_writer.h"
#include "base/quantity_text.h"
#include "capture/launcher/redact.h"
#include "cli/bench_json.h"
#include "measure/measured_json.h"
#include "measure/metrics.h"
#include "measure/program_facts.h"

namespace fathom::cli {
namespace {

using measure::column_of;
using measure::exit_code_of;
using measure::has_column;
using measure::metric_cells;
using measure::name_of;
using measure::seconds;
using measure::SweepRow;
using measure::VariedPoint;
using measure::write_bounds;
using measure::write_optional_summary;

void write_command(JsonWriter& json, const measure::BenchOptions& options) {
  json.key("base");
  if (options.base.empty()) {
    json.null();
  } else {
    json.texts(capture::redact_command(options.base));
  }
  json.key("new").texts(capture::redact_command(options.command));
}

void write_row(JsonWriter& json, const SweepRow& row, const VariedPoint& point) {
  json.object(kJsonLines)
      .member("value", point.value)
      .member("state", measure::to_string(point.state))
      .member("why", point.why);
  write_optional_summary(json.key("base"), row.base);
  write_optional_summary(json.key("new"), row.now);
  write_claim(json.key("verdict"), row.claim ? &*row.claim : nullptr);
  json.key("standing");
  if (row.standing) {
    json.text(measure::to_string(*row.standing));
  } else {
    json.null();
  }
  json.member("cost", row.cost ? std::optional(row.cost->ratio) : std::nullopt);
  write_bounds(json.key("cost_interval"),
               row.cost ? std::optional(row.cost->interval) : std::nullopt);
  json.member("clocks", row.clocks.empty() ? std::nullopt : std::optional(row.clocks));
  json.key("runs").array(kJsonLines);
  for (const measure::BenchRun& run : point.runs) write_run(json, run);
  json.end().end();
}

void write_value_at(JsonWriter& json, std::string_view key, const VariedResult& result,
                    const std::optional<std::size_t>& place) {
  json.key(key);
  if (place) {
    json.text(result.outcome.points[*place].value);
  } else {
    json.null();
  }
}

void write_size(JsonWriter& json, std::string_view key, std::int64_t size) {
  json.member(key, size == 0 ? std::optional<std::int64_t>() : size);
}

void write_crossover(JsonWriter& json, const VariedResult& result) {
  json.key("crossover");
  if (!result.crossover) {
    json.null();
    return;
  }
  const measure::CrossoverOutcome& found = *result.crossover;
  json.object(kJsonInline).member("crossing", measure::to_string(found.crossing));
  write_size(json, "slower_up_to", found.slower_up_to);
  write_size(json, "faster_from", found.faster_from);
  write_size(json, "surely_slower", found.surely_slower);
  write_size(json, "surely_faster", found.surely_faster);
  json.end();
}

/// A cell of CSV that may hold anything.
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string varied_json(const VariedResult& result, std::string_view indent) {
  const measure::VariedOutcome& outcome = result.outcome;
  std::string out;
  JsonWriter json(out, kJsonInline, indent);
  json.object(kJsonLines).member("schema", "fathom.bench_sweep/1").member("name", outcome.name);
  write_command(json, result.options);
  write_plan(json.key("plan"), result.options.plan, plan_words(result.options));
  json.member("stopped",
              outcome.interrupted != 0 ? "interrupted" : measure::to_string(outcome.stopped));
  json.member("elapsed_s", seconds(outcome.elapsed));
  write_announced(json.key("announced"), outcome.announced);
  json.key("metric");
  if (outcome.headline.empty()) {
    json.null().key("unit").null();
  } else {
    json.text(outcome.headline)
        .member("unit", measure::to_string(measure::metric_named(outcome.headline)->unit));
  }
  write_value_at(json, "best", result, result.verdict.best);
  write_value_at(json, "knee", result, result.verdict.knee);
  json.key("perhaps").array(kJsonInline);
  for (const std::size_t place : result.verdict.perhaps) json.text(outcome.points[place].value);
  json.end();
  write_crossover(json, result);
  json.key("values").array(kJsonLines);
  for (const SweepRow& row : result.verdict.rows) write_row(json, row, outcome.points[row.point]);
  json.end();
  write_conditions(json.key("conditions"), outcome.conditions);
  json.key("programs").object(kJsonLines).key("base");
  if (result.paired()) {
    measure::write_texts(
        json, measure::whole_facts(measure::facts_of(outcome.points, measure::Side::base)));
  } else {
    json.null();
  }
  measure::write_texts(json.key("new"),
                       measure::whole_facts(measure::facts_of(outcome.points, measure::Side::now)));
  json.end().end();
  return out;
}

std::string varied_csv(const VariedResult& result) {
  std::string out = csv_text(result.outcome.name) +
                    ",state,side,warmup,round,begin_ns,wall_ns,user_ns,system_ns,"
                    "peak_memory_bytes,steps,";
  for (const measure::Metric& metric : measure::all_metrics()) {
    if (has_column(metric)) out += column_of(metric) + ",";
  }
  out += "exit_code\n";
  for (const VariedPoint& point : result.outcome.points) {
    for (const measure::BenchRun& run : point.runs) {
      const measure::ChildRun& child = run.child;
      out += csv_text(point.value) + "," + std::string(measure::to_string(point.state)) + "," +
             std::string(name_of(run.side)) + (run.warmup ? ",true," : ",false,") +
             std::to_string(run.pair) + "," + std::to_string(run.begin_ns) + "," +
             std::to_string(child.wall_ns) + "," + std::to_string(child.user_ns) + "," +
             std::to_string(child.system_ns) + "," +
             (child.peak_bytes ? std::to_string(*child.peak_bytes) : "") + "," +
             (run.steps ? std::to_string(run.steps->ns.size()) : "") + "," + metric_cells(run) +
             std::to_string(exit_code_of(child)) + "\n";
    }
  }
  return out;
}

std::string bisect_json(const BisectResult& result, std::string_view indent) {
  const measure::BisectOutcome& outcome = result.outcome;
  std::string out;
  JsonWriter json(out, kJsonInline, indent);
  json.object(kJsonLines)
      .member("schema", "fathom.bench_bisect/1")
      .member("name", result.options.range.name)
      .key("command")
      .texts(capture::redact_command(result.options.bench.command));
  json.member("memory_limit_bytes", result.options.bench.child.memory_limit)
      .member("timeout_s", seconds(result.options.bench.child.timeout));
  write_size(json, "largest", outcome.largest);
  write_size(json, "smallest_failed", outcome.smallest_failed);
  json.member("complete", outcome.complete)
      .member("interrupted", outcome.interrupted != 0)
      .member("elapsed_s", seconds(outcome.elapsed));
  json.key("probes").array(kJsonLines);
  for (const measure::Probe& probe : outcome.probes) {
    json.object(kJsonInline)
        .member("value", probe.value)
        .member("fits", probe.fits)
        .member("why", probe.why)
        .key("run");
    write_run(json, probe.run);
    json.end();
  }
  json.end().end();
  return out;
}

std::string bisect_csv(const BisectResult& result) {
  std::string out =
      csv_text(result.options.range.name) + ",fits,why,wall_ns,peak_memory_bytes,steps,exit_code\n";
  for (const measure::Probe& probe : result.outcome.probes) {
    const measure::ChildRun& child = probe.run.child;
    out += std::to_string(probe.value) + (probe.fits ? ",true," : ",false,") + csv_text(probe.why) +
           "," + std::to_string(child.wall_ns) + "," +
           (child.peak_bytes ? std::to_string(*child.peak_bytes) : "") + "," +
           (probe.run.steps ? std::to_string(probe.run.steps->ns.size()) : "") + "," +
           std::to_string(exit_code_of(child)) + "\n";
  }
  return out;
}

}  // namespace fathom::cli
