// Writes the run behind a recording as JSON.
#include "render/run_json.h"

#include <cmath>
#include <optional>
#include <vector>

#include "render/diagnosis_json.h"
#include "render/percentile_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

std::string text(std::string_view value) { return shorten_middle(value, kJsonText); }

std::optional<std::int64_t> whole(const std::optional<double>& value) {
  return value ? std::optional<std::int64_t>(std::llround(*value)) : std::nullopt;
}

std::optional<std::int64_t> time(const std::optional<Duration>& value) {
  return value ? std::optional(to_ns(*value)) : std::nullopt;
}

std::optional<std::int64_t> known(std::int64_t value) {
  return value == kAbsent ? std::nullopt : std::optional(value);
}

/// Null where there is none.
std::optional<std::string> text_if(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional(text(value));
}

void write_tree(JsonWriter& json, const TreeUsage& usage) {
  json.member("processes", usage.processes)
      .member("wall_ns", time(usage.wall))
      .member("cpu_ns", time(usage.cpu))
      .member("cores", usage.cores())
      .member("memory_peak_bytes", whole(usage.memory_peak))
      .member("read_bytes", whole(usage.read_bytes))
      .member("written_bytes", whole(usage.written_bytes));
}

void write_ranks(JsonWriter& json, const RunUsage& usage) {
  json.array();
  for (const RankUsage& rank : usage.ranks) {
    json.object(kJsonInline).member("rank", rank.rank).member("pid", rank.pid);
    write_tree(json, rank.usage);
    json.end();
  }
  json.end();
}

void write_gpus(JsonWriter& json, const RunUsage& usage) {
  json.array();
  for (const GpuUsage& gpu : usage.gpus) {
    json.object(kJsonInline)
        .member("gpu", gpu.gpu)
        .member("utilization_percent", gpu.utilization)
        .member("mean_watts", gpu.watts)
        .member("limit_watts", gpu.watts_limit)
        .member("memory_peak_bytes", whole(gpu.memory_peak))
        .member("memory_bytes", whole(gpu.memory_total))
        .end();
  }
  json.end();
}

void write_processes(JsonWriter& json, const RunSummary& run) {
  json.array();
  std::size_t written = 0;
  for (const ProcessLine& line : run.processes) {
    if (written++ == kJsonSteps) break;
    const ProcessRun& process = line.run;
    json.object(kJsonInline)
        .member("pid", known(process.pid))
        .member("parent", known(process.parent))
        .member("role", text(line.role))
        .member("rank", process.rank < 0 ? std::nullopt : std::optional(process.rank))
        .member("command", text(line.command))
        .member("wall_ns", known(process.wall_ns))
        .member("user_ns", known(process.user_ns))
        .member("system_ns", known(process.system_ns))
        .member("peak_bytes", known(process.peak_bytes))
        .member("exit", text_if(exit_text(process.status)))
        .end();
  }
  json.end();
}

void write_energy(JsonWriter& json, const RunSummary& run) {
  if (!run.usage.joules) {
    json.null();
    return;
  }
  json.object(kJsonInline)
      .member("joules", run.usage.joules)
      .member("of", text(run.usage.consumers))
      .member("joules_per_step", run.usage.joules_per_step)
      .member("steps", run.usage.steps)
      .member("price", run.price)
      .member("co2_g", run.co2_g)
      .end();
}

void write_hangs(JsonWriter& json, const RunSummary& run) {
  json.array();
  for (const HangLook& hang : run.hangs) {
    json.object(kJsonInline)
        .member("file", text(hang.file))
        .member("why", text(hang.why))
        .member("where", text(hang.where))
        .end();
  }
  json.end();
}

void write_not_recorded(JsonWriter& json, const RunSummary& run) {
  json.array();
  for (const Unrecorded& lost : run.not_recorded) {
    json.object(kJsonInline)
        .member("what", text(lost.what))
        .member("why", text(lost.why))
        .member("lost", text(lost.lost))
        .member("remedy", text(lost.remedy))
        .end();
  }
  json.end();
}

void write_overhead(JsonWriter& json, const RunSummary& run) {
  if (!run.overhead) {
    json.null();
    return;
  }
  const RecordingOverhead& cost = *run.overhead;
  json.object(kJsonInline)
      .member("ratio", cost.ratio)
      .member("recorded_step_ns", to_ns(cost.profiled))
      .member("other_step_ns", to_ns(cost.unprofiled))
      .member("recorded_steps", cost.profiled_steps)
      .member("other_steps", cost.unprofiled_steps)
      .member("noise", cost.noise)
      .key("options")
      .object();
  for (const RecordingOverhead::Option& option : cost.options)
    json.member(option.name, option.ratio);
  json.end().end();
}

void write_named(JsonWriter& json, const std::vector<NamedTime>& times) {
  json.array();
  for (const NamedTime& each : times) {
    json.object(kJsonInline)
        .member("name", text(each.name))
        .member("time_ns", to_ns(each.time))
        .member("count", each.count)
        .end();
  }
  json.end();
}

void write_timed(JsonWriter& json, const RunSummary& run) {
  if (!run.timed) {
    json.null();
    return;
  }
  const TimedSteps& timed = *run.timed;
  const auto ns = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
  json.object(kJsonInline)
      .member("kind", text(timed.requests ? "request" : "step"))
      .member("steps", timed.ns.count)
      .member("in_depth", timed.in_depth)
      .member("mean_ns", ns(timed.ns.mean))
      .member("stddev_ns", ns(timed.ns.stddev))
      .member("min_ns", ns(timed.ns.min))
      .member("median_ns", ns(timed.ns.median))
      .member("p95_ns", whole_percentile(timed.ns.p95))
      .member("p95_reason", percentile_reason(timed.ns.count, 0.95))
      .member("p99_ns", whole_percentile(timed.ns.p99))
      .member("p99_reason", percentile_reason(timed.ns.count, 0.99))
      .member("max_ns", ns(timed.ns.max))
      .member("outliers", timed.outliers.size())
      .member("longest",
              timed.outliers.empty() ? std::nullopt : std::optional(timed.outliers.front().number))
      .member("loader_waits", timed.fetches)
      .member("loader_wait_ns", to_ns(timed.waited));
  if (const std::optional<ThreadTime>& time = run.request_time) {
    json.key("request_time")
        .object(kJsonInline)
        .member("requests", time->steps)
        .member("wall_ns", to_ns(time->wall))
        .member("computing_ns", to_ns(time->computing))
        .member("waiting_ns", to_ns(time->waiting))
        .member("preempted_ns",
                time->preempted_known ? std::optional(to_ns(time->preempted)) : std::nullopt)
        .end();
  }
  json.end();
}

void write_whole(JsonWriter& json, const WholeRun& whole) {
  json.array();
  for (const RunPart& part : whole.parts) {
    json.object(kJsonInline)
        .member("part", text(part.name))
        .member("time_ns", to_ns(part.time))
        .member("count", part.count)
        .end();
  }
  json.end();
}

}  // namespace

void write_run(JsonWriter& json, const RunSummary& run) {
  json.object(kJsonLines).member("name", text(run.name)).member("command", text(run.command));
  json.member("exit", text_if(run.exit));
  json.key("tree").object(kJsonInline);
  write_tree(json, run.usage.tree);
  json.end();
  json.member("cores_available", run.usage.cores);
  json.member("memory_limit_bytes", whole(run.usage.memory_limit));
  write_ranks(json.key("ranks"), run.usage);
  write_gpus(json.key("gpus"), run.usage);
  write_energy(json.key("energy"), run);
  write_processes(json.key("processes"), run);
  write_named(json.key("phases"), run.phases);
  write_named(json.key("functions"), run.functions);
  json.member("threads_started", run.threads);
  json.key("gc_pauses");
  if (run.collector) {
    json.integer(run.collector->count).member("gc_ns", to_ns(run.collector->time));
  } else {
    json.null().key("gc_ns").null();
  }
  write_timed(json.key("timed_steps"), run);
  write_whole(json.key("whole_run"), run.whole);
  write_overhead(json.key("overhead"), run);
  write_not_recorded(json.key("not_recorded"), run);
  if (!run.hangs.empty()) write_hangs(json.key("hangs"), run);
  json.end();
}

}  // namespace fathom
