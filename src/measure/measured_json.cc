// Writes runs, conditions and statistics.
#include "measure/measured_json.h"

#include <array>
#include <cmath>

#include <sys/wait.h>

#include "capture/launcher/redact.h"
#include "measure/measured_text.h"

namespace fathom::measure {
namespace {

void write_load(JsonWriter& json, const std::optional<std::array<double, 3>>& load) {
  if (!load) {
    json.null();
    return;
  }
  json.array(kJsonInline);
  for (const double value : *load) json.real(value);
  json.end();
}

void write_side(JsonWriter& json, const MeasuredSide& side) {
  json.object(kJsonInline);
  write_summary(json, side.summary, withheld_of(side));
  json.member("autocorrelation", side.autocorrelation);
  json.key("steadiness");
  if (side.warm_up) {
    json.text(to_string(side.warm_up->kind)).member("steady_after", side.warm_up->after);
  } else {
    json.null().key("steady_after").null();
  }
  json.member("steady_median", side.steady_median).end();
}

}  // namespace

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

int exit_code_of(const ChildRun& run) {
  return WIFEXITED(run.status) ? WEXITSTATUS(run.status) : 128 + WTERMSIG(run.status);
}

bool has_column(const Metric& metric) { return metric.of_steps || metric.of_devices; }

std::string column_of(const Metric& metric) {
  static constexpr std::array<std::string_view, 6> kSuffixes = {"_ns",    "_bytes",   "_joules",
                                                                "_per_s", "_percent", ""};
  return std::string(metric.id) + std::string(kSuffixes[static_cast<std::size_t>(metric.unit)]);
}

std::string metric_cells(const BenchRun& run) {
  std::string cells;
  for (const Metric& metric : all_metrics()) {
    if (!has_column(metric)) continue;
    const std::optional<double> value = metric.value(run);
    const bool whole = metric.unit == Unit::ns || metric.unit == Unit::bytes;
    if (value) cells += whole ? std::to_string(std::llround(*value)) : std::to_string(*value);
    cells += ",";
  }
  return cells;
}

void write_summary(JsonWriter& json, const SampleSummary& summary, std::string_view withheld) {
  const auto reason = [&](double quantile) {
    return withheld.empty() ? percentile_reason(summary.count, quantile) : std::string(withheld);
  };
  json.member("count", summary.count).member("median", summary.median);
  write_bounds(json.key("median_interval"), summary.median_interval);
  json.member("mean", summary.mean)
      .member("stddev", summary.stddev)
      .member("min", summary.min)
      .member("max", summary.max)
      .member("p95", summary.p95)
      .member("p95_reason", reason(0.95))
      .member("p99", summary.p99)
      .member("p99_reason", reason(0.99))
      .member("outliers", summary.outliers);
}

void write_optional_summary(JsonWriter& json, const std::optional<SampleSummary>& summary) {
  if (!summary) {
    json.null();
    return;
  }
  json.object(kJsonInline);
  write_summary(json, *summary);
  json.end();
}

void write_claim(JsonWriter& json, const Claim* claim) {
  if (claim == nullptr) {
    json.null().key("reason").null().key("ratio").null().key("ratio_interval").null().key("p");
    json.null();
    return;
  }
  json.text(to_string(claim->verdict)).member("reason", claim->reason).key("ratio");
  if (claim->ratio) {
    json.real(claim->ratio->ratio);
    write_bounds(json.key("ratio_interval"), claim->ratio->interval);
  } else {
    json.null().key("ratio_interval").null();
  }
  json.member("p", claim->p);
}

void write_metric(JsonWriter& json, const MeasuredMetric& metric) {
  json.object(kJsonLines).member("metric", metric.id).member("unit", to_string(metric.unit));
  json.member("definition",
              metric.definition.empty() ? std::nullopt : std::optional(metric.definition));
  json.key("base");
  if (metric.base) {
    write_side(json, *metric.base);
  } else {
    json.null();
  }
  write_side(json.key("new"), metric.now);
  write_claim(json.key("verdict"), metric.base ? &metric.claim : nullptr);
  json.member("clocks_differ", metric.clocks_differ).end();
}

void write_plan(JsonWriter& json, const SamplingPlan& plan, const PlanWords& words) {
  json.object()
      .member("runs", plan.runs)
      .member("time_s", seconds(plan.time))
      .member("resolution", plan.resolution)
      .member("until_precise", plan.until_precise)
      .member("seed", plan.seed)
      .member("warmup", words.warmup)
      .member("prepare", capture::redact(words.prepare))
      .member("timeout_s", seconds(words.timeout))
      .member("input", words.input)
      .member("ignore_failure", words.ignore_failure)
      .end();
}

void write_announced(JsonWriter& json, const std::optional<Announcement>& announced) {
  if (!announced) {
    json.null();
    return;
  }
  json.object()
      .member("after_pairs", announced->after)
      .member("pairs", announced->pairs)
      .member("time_s", seconds(announced->time))
      .end();
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
  for (const Metric& metric : all_metrics()) {
    if (has_column(metric)) json.member(column_of(metric), metric.value(run));
  }
  json.key("phases").array(kJsonInline);
  for (const SessionPhase& phase : run.phases)
    json.object(kJsonInline)
        .member("name", phase.name)
        .member("ns", phase.ns)
        .member("per", phase.of_step ? "step" : "run")
        .end();
  json.end();
  json.key("gpus").array(kJsonInline);
  if (run.devices) {
    for (const GpuPace& pace : run.devices->paces) {
      json.object(kJsonInline).member("gpu", pace.gpu).member("sm_clock_mhz", pace.sm_mhz);
      json.key("throttled").object(kJsonInline);
      for (const auto& [reason, share] : pace.throttled) json.member(reason, share);
      json.end().end();
    }
  }
  json.end();
  json.member("exit_code", exit_code_of(run.child)).end();
}

void write_texts(JsonWriter& json, const std::vector<std::pair<std::string, std::string>>& texts) {
  json.object(kJsonLines);
  for (const auto& [name, value] : texts) json.member(name, value);
  json.end();
}

void write_conditions(JsonWriter& json, const Conditions& conditions) {
  json.object(kJsonLines)
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
  json.member("memory_available_bytes", conditions.memory_available)
      .member("memory_pressure_percent", conditions.memory_pressure)
      .member("driver", conditions.driver.empty() ? std::nullopt : std::optional(conditions.driver))
      .key("gpus")
      .array(kJsonInline);
  for (const GpuCondition& gpu : conditions.gpus) {
    json.object(kJsonInline)
        .member("gpu", gpu.gpu)
        .member("name", gpu.name)
        .member("power_limit_w", gpu.power_limit_w)
        .member("default_power_limit_w", gpu.default_power_limit_w)
        .member("other_programs", gpu.programs)
        .member("memory_of_others_bytes", gpu.memory_of_programs)
        .end();
  }
  json.end();
  write_load(json.key("load_at_start"), conditions.load_at_start);
  write_load(json.key("load_at_end"), conditions.load_at_end);
  write_texts(json.key("environment"), conditions.environment);
  json.end();
}

}  // namespace fathom::measure
