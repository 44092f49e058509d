// Writes the run behind a recording as JSON.
#include "render/run_json.h"

#include <cmath>
#include <vector>

#include "render/diagnosis_json.h"
#include "render/json.h"
#include "render/text_width.h"

namespace fathom {
namespace {

using Members = std::vector<std::pair<std::string_view, std::string>>;

std::string text(std::string_view value) { return json_string(shorten_middle(value, kJsonText)); }

std::string number(const std::optional<double>& value) {
  return value ? json_value(*value) : std::string("null");
}

std::string whole(const std::optional<double>& value) {
  return value ? std::to_string(std::llround(*value)) : std::string("null");
}

std::string time(const std::optional<Duration>& value) {
  return value ? std::to_string(to_ns(*value)) : std::string("null");
}

std::string integer(std::int64_t value) {
  return value == kAbsent ? std::string("null") : std::to_string(value);
}

std::string object(const Members& members) {
  std::string out = "{";
  for (const auto& [key, value] : members)
    out += (out.size() == 1 ? "" : ", ") + json_string(key) + ": " + value;
  return out + "}";
}

std::string list(const std::vector<std::string>& elements, const std::string& indent) {
  if (elements.empty()) return "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < elements.size(); ++i)
    out += (i == 0 ? "\n" : ",\n") + indent + "  " + elements[i];
  return out + "\n" + indent + "]";
}

Members tree(const TreeUsage& usage) {
  return {{"processes", std::to_string(usage.processes)},
          {"wall_ns", time(usage.wall)},
          {"cpu_ns", time(usage.cpu)},
          {"cores", number(usage.cores())},
          {"memory_peak_bytes", whole(usage.memory_peak)},
          {"read_bytes", whole(usage.read_bytes)},
          {"written_bytes", whole(usage.written_bytes)}};
}

std::string ranks(const RunUsage& usage, const std::string& indent) {
  std::vector<std::string> rows;
  for (const RankUsage& rank : usage.ranks) {
    Members members = {{"rank", std::to_string(rank.rank)}, {"pid", std::to_string(rank.pid)}};
    for (auto& member : tree(rank.usage)) members.push_back(std::move(member));
    rows.push_back(object(members));
  }
  return list(rows, indent);
}

std::string gpus(const RunUsage& usage, const std::string& indent) {
  std::vector<std::string> rows;
  for (const GpuUsage& gpu : usage.gpus) {
    rows.push_back(object({{"gpu", std::to_string(gpu.gpu)},
                           {"utilization_percent", number(gpu.utilization)},
                           {"mean_watts", number(gpu.watts)},
                           {"limit_watts", number(gpu.watts_limit)},
                           {"memory_peak_bytes", whole(gpu.memory_peak)},
                           {"memory_bytes", whole(gpu.memory_total)}}));
  }
  return list(rows, indent);
}

std::string processes(const RunSummary& run, const std::string& indent) {
  std::vector<std::string> rows;
  for (const ProcessLine& line : run.processes) {
    if (rows.size() == kJsonSteps) break;
    const ProcessRun& process = line.run;
    const std::string exit = exit_text(process.status);
    rows.push_back(object({{"pid", integer(process.pid)},
                           {"parent", integer(process.parent)},
                           {"role", text(line.role)},
                           {"rank", process.rank < 0 ? "null" : std::to_string(process.rank)},
                           {"command", text(line.command)},
                           {"wall_ns", integer(process.wall_ns)},
                           {"user_ns", integer(process.user_ns)},
                           {"system_ns", integer(process.system_ns)},
                           {"peak_bytes", integer(process.peak_bytes)},
                           {"exit", exit.empty() ? "null" : text(exit)}}));
  }
  return list(rows, indent);
}

std::string energy(const RunSummary& run) {
  if (!run.usage.joules) return "null";
  return object({{"joules", number(run.usage.joules)},
                 {"of", text(run.usage.consumers)},
                 {"joules_per_step", number(run.usage.joules_per_step)},
                 {"steps", std::to_string(run.usage.steps)},
                 {"price", number(run.price)},
                 {"co2_g", number(run.co2_g)}});
}

std::string not_recorded(const RunSummary& run, const std::string& indent) {
  std::vector<std::string> rows;
  for (const Unrecorded& lost : run.not_recorded) {
    rows.push_back(object({{"what", text(lost.what)},
                           {"why", text(lost.why)},
                           {"lost", text(lost.lost)},
                           {"remedy", text(lost.remedy)}}));
  }
  return list(rows, indent);
}

std::string overhead(const RunSummary& run) {
  if (!run.overhead) return "null";
  const RecordingOverhead& cost = *run.overhead;
  Members options;
  for (const RecordingOverhead::Option& option : cost.options)
    options.emplace_back(option.name, json_value(option.ratio));
  return object({{"ratio", json_value(cost.ratio)},
                 {"recorded_step_ns", std::to_string(to_ns(cost.profiled))},
                 {"other_step_ns", std::to_string(to_ns(cost.unprofiled))},
                 {"recorded_steps", std::to_string(cost.profiled_steps)},
                 {"other_steps", std::to_string(cost.unprofiled_steps)},
                 {"noise", json_value(cost.noise)},
                 {"options", object(options)}});
}

std::string named(const std::vector<NamedTime>& times, const std::string& indent) {
  std::vector<std::string> rows;
  rows.reserve(times.size());
  for (const NamedTime& each : times) {
    rows.push_back(object({{"name", text(each.name)},
                           {"time_ns", std::to_string(to_ns(each.time))},
                           {"count", std::to_string(each.count)}}));
  }
  return list(rows, indent);
}

}  // namespace

std::string run_json(const RunSummary& run, const std::string& indent) {
  const std::string inner = indent + "  ";
  Members members = {{"name", text(run.name)},
                     {"command", text(run.command)},
                     {"exit", run.exit.empty() ? "null" : text(run.exit)},
                     {"tree", object(tree(run.usage.tree))},
                     {"cores_available", number(run.usage.cores)},
                     {"memory_limit_bytes", whole(run.usage.memory_limit)},
                     {"ranks", ranks(run.usage, inner)},
                     {"gpus", gpus(run.usage, inner)},
                     {"energy", energy(run)},
                     {"processes", processes(run, inner)},
                     {"phases", named(run.phases, inner)},
                     {"functions", named(run.functions, inner)},
                     {"threads_started", std::to_string(run.threads)},
                     {"gc_pauses", run.collector ? std::to_string(run.collector->count) : "null"},
                     {"gc_ns", run.collector ? std::to_string(to_ns(run.collector->time)) : "null"},
                     {"overhead", overhead(run)},
                     {"not_recorded", not_recorded(run, inner)}};
  std::string out = "{\n";
  for (std::size_t i = 0; i < members.size(); ++i) {
    out += inner + json_string(members[i].first) + ": " + members[i].second +
           (i + 1 < members.size() ? ",\n" : "\n");
  }
  return out + indent + "}";
}

}  // namespace fathom
