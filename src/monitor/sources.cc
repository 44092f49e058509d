// Every source of telemetry. To add one: its declaration, and its line in the table.
#include <algorithm>

#include "monitor/sampler.h"
#include "monitor/source.h"

namespace fathom::monitor {

SourceSpec processes_source();
SourceSpec cpu_source();
SourceSpec memory_source();
SourceSpec pressure_source();
SourceSpec network_source();
SourceSpec disks_source();
SourceSpec cgroup_source();
SourceSpec cpu_energy_source();
SourceSpec gpu_source();
SourceSpec gpu_slow_source();

std::span<const SourceSpec> all_sources() {
  static const SourceSpec table[] = {
      processes_source(),   //
      cpu_source(),         //
      memory_source(),      //
      pressure_source(),    //
      network_source(),     //
      disks_source(),       //
      cgroup_source(),      //
      cpu_energy_source(),  //
      gpu_source(),         //
      gpu_slow_source(),    //
  };
  return table;
}

std::vector<CounterSpec> all_counters() {
  std::vector<CounterSpec> all;
  for (const SourceSpec& spec : all_sources())
    all.insert(all.end(), spec.counters.begin(), spec.counters.end());
  const std::span<const CounterSpec> own = sampler_counters();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace fathom::monitor
