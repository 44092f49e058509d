// Writes manifest.json.
#include "capture/launcher/manifest.h"

#include <sys/wait.h>

#include "base/json_writer.h"
#include "capture/system/files.h"
#include "capture/system/signals.h"

namespace fathom::capture {
namespace {

template <typename Number>
void number_if(JsonWriter& json, std::string_view name, const std::optional<Number>& value) {
  if (!value) return;
  json.key(name);
  if constexpr (std::is_integral_v<Number>) {
    json.integer(*value);
  } else {
    json.rounded(*value);
  }
}

void text_if(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.key(name).text(value);
}

void known_if(JsonWriter& json, std::string_view name, std::int64_t value) {
  if (value >= 0) json.key(name).integer(value);
}

void load_if(JsonWriter& json, std::string_view name,
             const std::optional<std::array<double, 3>>& load) {
  if (!load) return;
  json.key(name).array();
  for (const double value : *load) json.rounded(value);
  json.end();
}

void cgroup_json(JsonWriter& json, const Cgroup& group) {
  if (group.version == 0) return;
  json.key("cgroup").object().key("version").integer(group.version);
  json.key("path").text(group.path);
  number_if(json, "memory_limit_bytes", group.memory_limit);
  number_if(json, "memory_used_bytes", group.memory_used);
  number_if(json, "cpus", group.cpus);
  number_if(json, "pids_limit", group.pids_limit);
  json.end();
}

void host_json(JsonWriter& json, const Manifest& manifest) {
  const Host& host = manifest.host;
  json.key("host").object();
  text_if(json, "name", host.name);
  text_if(json, "kernel", host.kernel);
  text_if(json, "cpu", host.cpu);
  json.key("cores").integer(host.cores).key("cores_allowed").integer(host.cores_allowed);
  json.key("memory_bytes").integer(host.memory);
  text_if(json, "governor", host.governor);
  text_if(json, "container", host.container);
  load_if(json, "load", manifest.load_at_start);
  load_if(json, "load_at_end", manifest.load_at_end);
  cgroup_json(json, manifest.cgroup);
  json.end();
}

void gpus_json(JsonWriter& json, const std::vector<GpuFacts>& gpus) {
  json.key("gpus").array();
  for (const GpuFacts& gpu : gpus) {
    json.object().key("name").text(gpu.name);
    text_if(json, "uuid", gpu.uuid);
    text_if(json, "driver", gpu.driver);
    if (gpu.memory > 0) json.key("memory_bytes").integer(gpu.memory);
    if (gpu.power_limit > 0) json.key("power_limit_w").rounded(gpu.power_limit);
    json.end();
  }
  json.end();
}

void exit_json(JsonWriter& json, int status) {
  json.key("exit").object();
  if (WIFSIGNALED(status)) {
    json.key("code").null().key("signal").text(signal_name(WTERMSIG(status)));
  } else {
    json.key("code").integer(WEXITSTATUS(status)).key("signal").null();
  }
  json.end();
}

void process_json(JsonWriter& json, const Process& process) {
  json.object().key("pid").integer(process.pid).key("parent").integer(process.parent);
  json.key("role").text(process.role);
  if (process.rank >= 0) json.key("rank").integer(process.rank);
  if (process.command.empty()) {
    json.key("command").texts(std::array{process.name});
  } else {
    json.key("command").texts(process.command);
  }
  if (process.status) exit_json(json, *process.status);
  if (!process.running()) json.key("wall_ns").integer(process.ended - process.started);
  known_if(json, "user_ns", process.user);
  known_if(json, "system_ns", process.system);
  known_if(json, "peak_bytes", process.peak);
  known_if(json, "read_bytes", process.read);
  known_if(json, "written_bytes", process.written);
  json.key("exact").boolean(process.exact);
  json.key("running").boolean(process.running());
  json.end();
}

void options_json(JsonWriter& json, const Manifest& manifest) {
  // The options as the program gets them, and what only the launcher needs.
  json.key("options").object().key("recording").raw(to_json(manifest.recording));
  json.key("telemetry_hz").rounded(manifest.telemetry_hz);
  number_if(json, "price_per_kwh", manifest.price);
  number_if(json, "carbon_g_per_kwh", manifest.carbon);
  json.end();
}

void outcome_json(JsonWriter& json, const Manifest& manifest) {
  json.key("started_unix_ns").integer(manifest.started_unix);
  if (manifest.ended_unix > 0) json.key("ended_unix_ns").integer(manifest.ended_unix);
  if (manifest.status) exit_json(json, *manifest.status);
  if (manifest.killed_for_memory) json.key("killed_for_memory").boolean(true);
  json.key("processes").array();
  for (const Process& process : manifest.processes) process_json(json, process);
  json.end();
  if (!manifest.overhead.empty()) json.key("overhead").raw(manifest.overhead);
  json.key("not_recorded").array();
  for (const NotRecorded& lost : manifest.not_recorded) {
    json.object().key("what").text(lost.what).key("why").text(lost.why);
    text_if(json, "lost", lost.lost);
    json.key("remedy").text(lost.remedy).end();
  }
  json.end();
  if (manifest.dumps.empty()) return;
  json.key("dumps").array();
  for (const HangDump& dump : manifest.dumps) {
    json.object().key("file").text(dump.file).key("why").text(dump.why);
    json.key("where").text(dump.where).end();
  }
  json.end();
}

}  // namespace

std::string sentence_of(const HangDump& dump) {
  return dump.why + (dump.where.empty() ? "" : ": " + dump.where) + "; " + dump.file +
         " has all threads";
}

std::string to_json(const Manifest& manifest) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().key("schema").text("fathom-run/1").key("fathom").text(manifest.version);
  json.key("name").text(manifest.name).key("command").texts(manifest.command);
  json.key("directory").text(manifest.directory).key("environment").object();
  for (const auto& [name, value] : manifest.environment) json.key(name).text(value);
  json.end();
  options_json(json, manifest);
  if (manifest.git) {
    json.key("git").object().key("revision").text(manifest.git->revision);
    if (manifest.git->dirty) json.key("dirty").boolean(*manifest.git->dirty);
    json.end();
  }
  host_json(json, manifest);
  gpus_json(json, manifest.gpus);
  outcome_json(json, manifest);
  json.end();
  return out + "\n";
}

Result<void> write_manifest(const std::string& folder, const Manifest& manifest) {
  return replace_file(folder + "/manifest.json", to_json(manifest));
}

}  // namespace fathom::capture
