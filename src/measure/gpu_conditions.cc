// Asks NVML once.
#include "measure/gpu_conditions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "monitor/gpus.h"

namespace fathom::measure {

Conditions conditions_with_gpus(const std::string& nvml_path) {
  Conditions conditions = conditions_at_start();
  monitor::GpuSystem system = monitor::describe_gpus(nvml_path);
  if (system.gpus.empty()) return conditions;
  conditions.driver = std::move(system.driver);
  const std::vector<monitor::GpuPrograms> programs = monitor::gpu_programs(nvml_path);
  for (monitor::GpuDescription& gpu : system.gpus) {
    GpuCondition condition{.gpu = gpu.index,
                           .name = std::move(gpu.name),
                           .power_limit_w = gpu.power_limit_w,
                           .default_power_limit_w = gpu.default_power_limit_w,
                           .programs = {},
                           .memory_of_programs = {}};
    const auto found = std::ranges::find(programs, gpu.index, &monitor::GpuPrograms::index);
    if (found != programs.end()) {
      condition.programs = found->count;
      condition.memory_of_programs = found->memory_bytes;
    }
    conditions.gpus.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace fathom::measure
