// Reads load, governor and control group before and after.
#include "measure/conditions.h"

#include <charconv>
#include <utility>

#include "base/quantity_text.h"
#include "capture/launcher/conditions.h"
#include "capture/system/files.h"

namespace fathom::measure {
namespace {

/// Of version 2: how often the group used up its quota. Unset where it has none, or is not seen.
std::optional<std::int64_t> throttled_so_far(const capture::Cgroup& cgroup,
                                             const std::string& root) {
  if (cgroup.version != 2) return std::nullopt;
  const std::optional<std::string> text =
      capture::read_small(root + "/sys/fs/cgroup" + cgroup.path + "/cpu.stat");
  if (!text) return std::nullopt;
  const std::size_t at = text->find("nr_throttled ");
  if (at == std::string::npos) return std::nullopt;
  const char* const digits = text->data() + at + std::string_view("nr_throttled ").size();
  std::int64_t count = 0;
  if (std::from_chars(digits, text->data() + text->size(), count).ec != std::errc())
    return std::nullopt;
  return count;
}

/// The number after `key` in a text; unset where there is none.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  double number = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> available_memory(const std::string& root) {
  const std::optional<std::string> text = capture::read_small(root + "/proc/meminfo");
  if (!text) return std::nullopt;
  const std::optional<double> kib = number_after(*text, "MemAvailable:");
  if (!kib || !(*kib >= 0 && *kib < 0x1p53)) return std::nullopt;
  return static_cast<std::int64_t>(*kib) * 1024;
}

std::optional<double> pressure_of_memory(const std::string& root) {
  const std::optional<std::string> text = capture::read_small(root + "/proc/pressure/memory");
  return text ? number_after(*text, "some avg10=") : std::nullopt;
}

std::string gpu_warning(const GpuCondition& gpu) {
  if (gpu.programs.value_or(0) <= 0) return {};
  return (*gpu.programs == 1 ? "another program computes"
                             : count_text(*gpu.programs) + " other programs compute") +
         " on GPU " + std::to_string(gpu.gpu) +
         (gpu.memory_of_programs ? " (" + bytes_text(*gpu.memory_of_programs) + ")" : "") +
         " before measuring. Claims stay true, but need more runs.";
}

std::string memory_warning(const Conditions& conditions) {
  constexpr double kPressure = 1;  // percent
  constexpr std::int64_t kTenth = 10;
  if (conditions.memory_pressure.value_or(0) > kPressure) {
    return "programs waited for memory for " + percent_text(*conditions.memory_pressure) +
           " of the last 10 s before measuring: it is short, and times depend on what the system "
           "takes back.";
  }
  const std::int64_t memory = conditions.host.memory;
  if (memory > 0 && conditions.memory_available && *conditions.memory_available < memory / kTenth) {
    return "of " + bytes_text(memory) + " of memory " + bytes_text(*conditions.memory_available) +
           " are available before measuring: what is measured may wait for it.";
  }
  return {};
}

}  // namespace

Conditions conditions_at_start(const std::string& root) {
  Conditions conditions;
  conditions.host = capture::read_host(root);
  conditions.cgroup = capture::read_cgroup(root);
  conditions.load_at_start = capture::read_load(root);
  conditions.throttled = throttled_so_far(conditions.cgroup, root);
  conditions.memory_available = available_memory(root);
  conditions.memory_pressure = pressure_of_memory(root);
  conditions.environment = capture::environment_that_matters();
  return conditions;
}

void end_conditions(Conditions& conditions, const std::string& root) {
  conditions.load_at_end = capture::read_load(root);
  const std::optional<std::int64_t> now = throttled_so_far(conditions.cgroup, root);
  if (conditions.throttled && now) {
    *conditions.throttled = *now - *conditions.throttled;
  } else {
    conditions.throttled.reset();
  }
}

std::vector<std::string> warnings_about(const Conditions& conditions) {
  std::vector<std::string> warnings;
  const double load = conditions.load_at_start ? (*conditions.load_at_start)[0] : 0;
  const auto cores = static_cast<double>(conditions.host.cores);
  if (cores > 0 && load > cores / 2) {
    warnings.push_back("load " + real_text(load) + " on " + count_text(conditions.host.cores) +
                       " cores before measuring: other programs run. Claims stay true, but need "
                       "more runs.");
  }
  if (conditions.host.governor == "powersave" || conditions.host.governor == "ondemand" ||
      conditions.host.governor == "conservative") {
    warnings.push_back("the CPU governor is " + conditions.host.governor +
                       ": clocks follow the load; 'performance' varies less (cpupower "
                       "frequency-set -g performance).");
  }
  for (const GpuCondition& gpu : conditions.gpus) {
    if (std::string text = gpu_warning(gpu); !text.empty()) warnings.push_back(std::move(text));
  }
  if (std::string text = memory_warning(conditions); !text.empty())
    warnings.push_back(std::move(text));
  return warnings;
}

}  // namespace fathom::measure
