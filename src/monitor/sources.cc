// Every source of telemetry. To add one: its declaration, and its line in the table.
#include "monitor/source.h"

namespace fathom::monitor {

Opened open_processes(Surroundings& surroundings, Series& series);
Opened open_cpu(Surroundings& surroundings, Series& series);
Opened open_memory(Surroundings& surroundings, Series& series);
Opened open_pressure(Surroundings& surroundings, Series& series);
Opened open_network(Surroundings& surroundings, Series& series);
Opened open_disks(Surroundings& surroundings, Series& series);
Opened open_cgroup(Surroundings& surroundings, Series& series);
Opened open_cpu_energy(Surroundings& surroundings, Series& series);
Opened open_gpu(Surroundings& surroundings, Series& series);
Opened open_gpu_slow(Surroundings& surroundings, Series& series);

std::span<const SourceSpec> all_sources() {
  static constexpr SourceSpec kTable[] = {
      {"processes", "processor, memory and I/O of each process", Lane::host, open_processes},
      {"cpu", "processors, load, other programs", Lane::host, open_cpu},
      {"memory", "memory and swap", Lane::host, open_memory},
      {"pressure", "waiting for processors, memory and disks (PSI)", Lane::host, open_pressure},
      {"network", "network interfaces", Lane::host, open_network},
      {"disks", "disks", Lane::host, open_disks},
      {"cgroup", "limits of the container", Lane::host, open_cgroup},
      {"cpu-energy", "energy of the processors (RAPL)", Lane::host, open_cpu_energy},
      {"gpu", "GPUs: use, memory, power, clocks, throttling", Lane::gpu, open_gpu},
      {"gpu-slow", "GPUs: PCIe, ECC, other processes", Lane::gpu_slow, open_gpu_slow},
  };
  return kTable;
}

}  // namespace fathom::monitor
