// Reads load, governor and control group before and after.
#include "measure/conditions.h"

#include <charconv>

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

}  // namespace

Conditions conditions_at_start(const std::string& root) {
  Conditions conditions;
  conditions.host = capture::read_host(root);
  conditions.cgroup = capture::read_cgroup(root);
  conditions.load_at_start = capture::read_load(root);
  conditions.throttled = throttled_so_far(conditions.cgroup, root);
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
  return warnings;
}

}  // namespace fathom::measure
