// Joins the checks of capture with what the telemetry can record.
#include "record/doctor.h"

#include <algorithm>
#include <string>

#include "capture/launcher/limits.h"
#include "monitor/abilities.h"
#include "monitor/gpus.h"

namespace fathom::record {
namespace {

using capture::Check;
using capture::CheckState;

void append(std::vector<Check>& checks, const std::vector<Check>& more) {
  checks.insert(checks.end(), more.begin(), more.end());
}

std::vector<Check> nvml_checks() {
  const monitor::GpuSystem system = monitor::describe_gpus();
  std::vector<Check> checks;
  for (const monitor::GpuDescription& gpu : system.gpus) {
    checks.push_back({.section = "GPU",
                      .what = "device " + std::to_string(gpu.index),
                      .state = CheckState::fine,
                      .detail = gpu.name + ", driver " + system.driver +
                                (system.cuda.empty() ? "" : ", CUDA up to " + system.cuda)});
  }
  if (checks.empty()) {
    checks.push_back({.section = "GPU",
                      .what = "NVML",
                      .state = CheckState::missing,
                      .detail = system.why,
                      .lost = capture::lost_with("GPU telemetry"),
                      .remedy = system.remedy});
  }
  return checks;
}

std::vector<Check> telemetry_checks() {
  std::vector<Check> checks;
  for (const monitor::Ability& ability : monitor::telemetry_abilities()) {
    // The check of NVML shows it.
    if (!ability.available && ability.what == "GPU telemetry") continue;
    checks.push_back({.section = "Telemetry",
                      .what = ability.what,
                      .state = ability.available ? CheckState::fine : CheckState::missing,
                      .detail = ability.why,
                      .lost = ability.available ? std::string() : capture::lost_with(ability.what),
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
  std::vector<Check> checks = capture::gpu_checks();
  append(checks, nvml_checks());
  append(checks, capture::python_checks());
  append(checks, telemetry_checks());
  append(checks, capture::permission_checks());
  append(checks, capture::limit_checks());
  put_sections_together(checks);
  return checks;
}

}  // namespace fathom::record
