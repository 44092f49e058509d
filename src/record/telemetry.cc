// Starts the sampler beside the program; hands what it found to the manifest.
#include "record/telemetry.h"

#include <cstdint>
#include <system_error>

#include <unistd.h>

namespace fathom::record {

Telemetry::Telemetry(double hz, pid_t root, const std::string& session, wire::Writer& writer) {
  if (hz <= 0) return;
  monitor::SamplerOptions options;
  options.period_ns = static_cast<std::int64_t>(1e9 / hz);
  options.tree = {.root = root, .launcher = getpid(), .session = session};
  try {
    started_ = std::async(std::launch::async, [options, &writer] {
      return Started(monitor::Sampler::start(writer, options), monitor::describe_gpus());
    });
  } catch (const std::system_error&) {
    missing_ = {.what = "telemetry",
                .why = "no thread could be started for it",
                .remedy = "allow more processes (ulimit -u, pids.max)",
                .lost = "every counter of telemetry"};
  }
}

void Telemetry::stop_into(capture::Manifest& manifest) {
  if (missing_) manifest.not_recorded.push_back(*missing_);
  if (!started_.valid()) return;
  const auto [sampler, system] = started_.get();
  sampler->stop();
  for (const monitor::GpuDescription& gpu : system.gpus) {
    manifest.gpus.push_back({.name = gpu.name,
                             .uuid = gpu.uuid,
                             .driver = system.driver,
                             .memory = gpu.memory_bytes.value_or(0),
                             .power_limit = gpu.power_limit_w.value_or(0)});
  }
  for (const monitor::Missing& missing : sampler->missing())
    manifest.not_recorded.push_back({missing.what, missing.why, missing.remedy, missing.lost});
}

}  // namespace fathom::record
