// Writes the result of measuring a function as fathom.bench/1.
#include "measure/function_json.h"

#include <cmath>

#include "base/json_writer.h"
#include "measure/measured_json.h"

namespace fathom::measure {
namespace {

/// A block as a run: what a process has and a function has not is unset.
BenchRun run_of(const FunctionSample& sample) {
  BenchRun run;
  run.side = sample.side;
  run.pair = sample.pair;
  run.begin_ns = sample.begin_ns;
  run.child.wall_ns = std::llround(sample.ns);
  run.child.user_ns = sample.user_ns;
  run.child.system_ns = sample.system_ns;
  return run;
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
  for (const ReasonShare& each : clocks.reasons) json.member(each.id, each.share);
  json.end().end();
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
  text_or_null("launches", result.launches);
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
    write_optional_summary(json, side == Side::base ? result.base_gaps : result.now_gaps);
  });
  write_texts(json.key("facts"), result.facts);
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
  write_plan(json.key("plan"), result.options.plan,
             {.warmup = result.options.warmup,
              .prepare = {},
              .timeout = {},
              .input = {},
              .ignore_failure = false});
  json.member("stopped",
              outcome.failed ? std::string_view("interrupted") : to_string(outcome.sampled.stopped))
      .member("pairs", outcome.sampled.now.size())
      .member("elapsed_s", seconds(outcome.elapsed));
  write_announced(json.key("announced"), outcome.sampled.announced);
  json.key("headline")
      .value(result.metrics.empty() ? std::nullopt : std::optional(result.metrics.front().id));
  json.key("target").null().key("metrics").array(kJsonLines);
  for (const MeasuredMetric& metric : result.metrics) write_metric(json, metric);
  json.end();
  write_conditions(json.key("conditions"), outcome.conditions);
  // Both sides are of one program: see "facts".
  json.key("programs").object(kJsonLines).key("base");
  if (result.paired()) {
    write_texts(json, result.facts);
  } else {
    json.null();
  }
  write_texts(json.key("new"), result.facts);
  json.end().key("runs").array(kJsonLines);
  if (runs) {
    for (const FunctionSample& sample : outcome.samples) write_run(json, run_of(sample));
  }
  json.end();
  write_function(json, result);
  json.end();
  return out;
}

}  // namespace fathom::measure
