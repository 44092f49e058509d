// Sampler: records telemetry beside a running program, on threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "monitor/process_tree.h"
#include "monitor/source.h"
#include "wire/writer.h"

namespace fathom::monitor {

/// What the sampler counts of itself.
std::span<const CounterSpec> sampler_counters();

struct SamplerOptions {
  std::int64_t period_ns = 100'000'000;
  ProcessTree::Options tree;
  Roots roots;
  std::string nvml_path;  ///< Empty: libnvidia-ml.so.1, where the loader finds it.
  /// Share of one core that sampling the machine and its processes may cost, and likewise the GPUs.
  /// Beyond it, samples are taken less often, which is recorded.
  double budget = 0.005;
};

/// What it cost, and what it could not do.
struct SamplerCost {
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t ticks = 0;
  std::uint64_t missed = 0;
};

/// Samples from start() until stop(), at most once. Written are counters and samples, the facts
/// `telemetry.period_ns`, `telemetry.sources`, `telemetry.missing` (JSON), and for each GPU
/// `gpu.<index>`.
class Sampler {
 public:
  /// Opens all sources, takes the first samples and returns; `writer` must outlive stop(). Never
  /// fails: what cannot be recorded is in missing(). Signals are not delivered to its threads.
  static std::unique_ptr<Sampler> start(wire::Writer& writer, const SamplerOptions& options);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Takes the last samples and ends the threads. A driver that hangs is waited for two seconds.
  void stop();

  /// What is not recorded, with what would allow it.
  [[nodiscard]] const std::vector<Missing>& missing() const;
  /// So far, or in all.
  [[nodiscard]] SamplerCost cost() const;

 private:
  struct Shared;
  explicit Sampler(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
};

}  // namespace fathom::monitor
