// Joins the checks of capture with what the telemetry can record.
#include "record/doctor.h"

#include <algorithm>
#include <string>

#include "monitor/abilities.h"
#include "monitor/gpus.h"
#include "monitor/source.h"

namespace fathom::record {
namespace {

using capture::Check;
using capture::CheckState;

/// Is it that no GPU can be sampled at all?
bool is_gpu_telemetry(const monitor::Ability& ability) {
  return ability.source == monitor::kGpuSource && ability.whole_source;
}

void append(std::vector<Check>& checks, const std::vector<Check>& more) {
  checks.insert(checks.end(), more.begin(), more.end());
}

/// The GPUs, or why there is no telemetry of any.
std::vector<Check> nvml_checks(const std::vector<monitor::Ability>& abilities) {
  const monitor::GpuSystem system = monitor::describe_gpus();
  std::vector<Check> checks;
  for (const monitor::GpuDescription& gpu : system.gpus) {
    checks.push_back({.section = "GPU",
                      .what = "device " + std::to_string(gpu.index),
                      .state = CheckState::fine,
                      .detail = gpu.name + ", driver " + system.driver +
                                (system.cuda.empty() ? "" : ", CUDA up to " + system.cuda)});
  }
  if (!checks.empty()) return checks;
  const auto telemetry = std::ranges::find_if(abilities, is_gpu_telemetry);
  checks.push_back({.section = "GPU",
                    .what = "NVML",
                    .state = CheckState::missing,
                    .detail = system.why,
                    .lost = telemetry == abilities.end() ? std::string() : telemetry->lost,
                    .remedy = system.remedy});
  return checks;
}

std::vector<Check> telemetry_checks(const std::vector<monitor::Ability>& abilities) {
  std::vector<Check> checks;
  for (const monitor::Ability& ability : abilities) {
    // The check of NVML shows it.
    if (is_gpu_telemetry(ability)) continue;
    checks.push_back({.section = "Telemetry",
                      .what = ability.what,
                      .state = ability.available ? CheckState::fine : CheckState::missing,
                      .detail = ability.why,
                      .lost = ability.lost,
                      .remedy = ability.remedy});
  }
  return checks;
}

void put_sections_together(std::vector<Check>& checks) {
  std::vector<std::string> order;
  for (const Check& check : checks) {
    if (std::ranges::find(order, check.section) == order.end()) order.push_back(check.section);
  }
  std::ranges::stable_sort(checks, {}, [&](const Check& check) {
    return std::ranges::find(order, check.section) - order.begin();
  });
}

}  // namespace

std::vector<Check> doctor_checks() {
  const std::vector<monitor::Ability> abilities = monitor::telemetry_abilities();
  std::vector<Check> checks = capture::gpu_checks();
  append(checks, nvml_checks(abilities));
  append(checks, capture::python_checks());
  append(checks, telemetry_checks(abilities));
  append(checks, capture::permission_checks());
  append(checks, capture::limit_checks());
  put_sections_together(checks);
  return checks;
}

}  // namespace fathom::record
