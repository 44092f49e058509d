// Telemetry beside a program that is being recorded.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capture/launcher/manifest.h"
#include "monitor/gpus.h"
#include "monitor/sampler.h"
#include "wire/writer.h"

namespace fathom::record {

/// Samples while it lives. Asking the GPUs' driver may take a while, so that it starts on a thread
/// of its own: the program and its signals do not wait for it.
class Telemetry {
 public:
  /// Samples the machine and the tree of the process `root`, `hz` times a second (0: not at all),
  /// into `writer`, which must outlive stop_into(). `session` is the folder of the session, by
  /// whose name in their environment processes of the tree are known.
  Telemetry(double hz, pid_t root, const std::string& session, wire::Writer& writer);

  /// Ends it, and adds the GPUs and what was not recorded to the manifest.
  void stop_into(capture::Manifest& manifest);

 private:
  using Started = std::pair<std::unique_ptr<monitor::Sampler>, monitor::GpuSystem>;
  std::future<Started> started_;
  std::optional<capture::NotRecorded> missing_;  ///< All of it, and why.
};

}  // namespace fathom::record
