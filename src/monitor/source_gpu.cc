// gpu and gpu-slow: what NVML reports of each GPU.
// A metric that one GPU does not have costs only that metric; a GPU that is lost costs only that
// GPU.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "monitor/nvml.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace gpu_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"gpu.utilization", "percent", CounterKind::level, CounterOf::gpu, "NVML",
     "share of the last fraction of a second in which any kernel ran"},
    {"gpu.memory_utilization", "percent", CounterKind::level, CounterOf::gpu, "NVML",
     "share of it in which memory was read or written"},
    {"gpu.memory_used", "bytes", CounterKind::level, CounterOf::gpu, "NVML", "memory in use"},
    {"gpu.memory_total", "bytes", CounterKind::level, CounterOf::gpu, "NVML", "memory installed"},
    {"gpu.power", "watts", CounterKind::level, CounterOf::gpu, "NVML",
     "power of the board, averaged by the driver over up to a second"},
    {"gpu.power_limit", "watts", CounterKind::level, CounterOf::gpu, "NVML",
     "the limit that is enforced"},
    {"gpu.energy", "joules", CounterKind::total, CounterOf::gpu, "NVML",
     "energy of the board since its driver was loaded (Volta and later)"},
    {"gpu.sm_clock", "MHz", CounterKind::level, CounterOf::gpu, "NVML", "clock of the processors"},
    {"gpu.memory_clock", "MHz", CounterKind::level, CounterOf::gpu, "NVML", "clock of the memory"},
    {"gpu.sm_clock_max", "MHz", CounterKind::level, CounterOf::gpu, "NVML",
     "the highest that the board allows"},
    {"gpu.memory_clock_max", "MHz", CounterKind::level, CounterOf::gpu, "NVML",
     "the highest that the board allows"},
    {"gpu.temperature", "celsius", CounterKind::level, CounterOf::gpu, "NVML",
     "temperature of the chip"},
    {"gpu.performance_state", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "0 is the fastest, 15 the slowest"},
    {"gpu.clock_reasons", "bits", CounterKind::level, CounterOf::gpu, "NVML",
     "why clocks are not higher: nvmlClocksEventReason…, as NVML numbers them"},
    {"gpu.throttle.idle", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 0: nothing runs"},
    {"gpu.throttle.clock_setting", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 1: clocks were set by somebody"},
    {"gpu.throttle.power_cap", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 2: the power limit is met"},
    {"gpu.throttle.hw_slowdown", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 3: the hardware slows down, for heat or power"},
    {"gpu.throttle.sync_boost", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 4: waits for a slower GPU of its group"},
    {"gpu.throttle.sw_thermal", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 5: too hot, by the driver's measure"},
    {"gpu.throttle.hw_thermal", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 6: too hot, by the hardware's measure"},
    {"gpu.throttle.power_brake", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 7: the power supply asks for less"},
    {"gpu.throttle.display", "flag", CounterKind::level, CounterOf::gpu, "NVML",
     "bit 8: held back by the display's clock"},
    {"gpu.pcie_sent", "bytes", CounterKind::total, CounterOf::gpu, "NVML",
     "sent over PCIe, where the driver counts it"},
    {"gpu.pcie_received", "bytes", CounterKind::total, CounterOf::gpu, "NVML",
     "received over PCIe, where the driver counts it"},
    {"gpu.pcie_send_rate", "bytes/s", CounterKind::level, CounterOf::gpu, "NVML",
     "elsewhere: sent over PCIe in 20 ms"},
    {"gpu.pcie_receive_rate", "bytes/s", CounterKind::level, CounterOf::gpu, "NVML",
     "elsewhere: received over PCIe in 20 ms"},
    {"gpu.pcie_generation", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "generation of the link as it runs now"},
    {"gpu.pcie_width", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "lanes of the link as it runs now"},
    {"gpu.ecc_corrected", "count", CounterKind::total, CounterOf::gpu, "NVML",
     "memory errors that were corrected, since the driver was loaded"},
    {"gpu.ecc_uncorrected", "count", CounterKind::total, CounterOf::gpu, "NVML",
     "memory errors that were not"},
    {"gpu.processes", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "processes that use it to compute"},
    {"gpu.other_processes", "count", CounterKind::level, CounterOf::gpu, "NVML",
     "those outside of the captured tree"},
    {"gpu.memory_by_others", "bytes", CounterKind::level, CounterOf::gpu, "NVML",
     "memory that these hold, where NVML reports it"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

constexpr double kMilli = 1e-3;
constexpr double kKilobyte = 1000;

/// A number of one GPU.
using Reading = NvmlReading<double>;

template <typename Value>
Reading scaled(const NvmlReading<Value>& reading, double by = 1) {
  return {reading.code, by * static_cast<double>(reading.value)};
}

struct Metric {
  const CounterSpec* spec;
  Reading (*read)(const Nvml& nvml, NvmlDevice device);
};

/// Asked at every tick.
constexpr Metric kFast[] = {
    {&counter("gpu.utilization"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.utilization(device)); }},
    {&counter("gpu.memory_utilization"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.memory_utilization(device)); }},
    {&counter("gpu.memory_used"),
     [](const Nvml& nvml, NvmlDevice device) {
       const auto memory = nvml.memory(device);
       return Reading{memory.code, static_cast<double>(memory.value.used)};
     }},
    {&counter("gpu.power"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.power(device), kMilli); }},
    {&counter("gpu.energy"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.energy(device), kMilli); }},
    {&counter("gpu.sm_clock"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.clock(device, NvmlClock::sm)); }},
    {&counter("gpu.memory_clock"),
     [](const Nvml& nvml, NvmlDevice device) {
       return scaled(nvml.clock(device, NvmlClock::memory));
     }},
    {&counter("gpu.temperature"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.temperature(device)); }},
    {&counter("gpu.performance_state"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.performance_state(device)); }},
    {&counter("gpu.clock_reasons"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.clock_reasons(device)); }},
    {&counter("gpu.pcie_sent"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.pcie_sent(device)); }},
    {&counter("gpu.pcie_received"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.pcie_received(device)); }},
};

/// Asked once a second.
constexpr Metric kSlow[] = {
    {&counter("gpu.memory_total"),
     [](const Nvml& nvml, NvmlDevice device) {
       const auto memory = nvml.memory(device);
       return Reading{memory.code, static_cast<double>(memory.value.total)};
     }},
    {&counter("gpu.power_limit"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.power_limit(device), kMilli); }},
    {&counter("gpu.sm_clock_max"),
     [](const Nvml& nvml, NvmlDevice device) {
       return scaled(nvml.max_clock(device, NvmlClock::sm));
     }},
    {&counter("gpu.memory_clock_max"),
     [](const Nvml& nvml, NvmlDevice device) {
       return scaled(nvml.max_clock(device, NvmlClock::memory));
     }},
    {&counter("gpu.pcie_generation"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.pcie_generation(device)); }},
    {&counter("gpu.pcie_width"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.pcie_width(device)); }},
    {&counter("gpu.ecc_corrected"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.ecc_corrected(device)); }},
    {&counter("gpu.ecc_uncorrected"),
     [](const Nvml& nvml, NvmlDevice device) { return scaled(nvml.ecc_uncorrected(device)); }},
};

/// Asked once a second, and only where the driver does not count the bytes.
constexpr Metric kRates[] = {
    {&counter("gpu.pcie_send_rate"),
     [](const Nvml& nvml, NvmlDevice device) {
       return scaled(nvml.pcie_send_rate(device), kKilobyte);
     }},
    {&counter("gpu.pcie_receive_rate"),
     [](const Nvml& nvml, NvmlDevice device) {
       return scaled(nvml.pcie_receive_rate(device), kKilobyte);
     }},
};

/// The bits of gpu.clock_reasons, from bit 0.
constexpr const CounterSpec* kReasons[] = {
    &counter("gpu.throttle.idle"),       &counter("gpu.throttle.clock_setting"),
    &counter("gpu.throttle.power_cap"),  &counter("gpu.throttle.hw_slowdown"),
    &counter("gpu.throttle.sync_boost"), &counter("gpu.throttle.sw_thermal"),
    &counter("gpu.throttle.hw_thermal"), &counter("gpu.throttle.power_brake"),
    &counter("gpu.throttle.display"),
};

bool is_lost(NvmlCode code) {
  return code == NvmlCode::gpu_is_lost || code == NvmlCode::reset_required;
}

/// What will not change while we look.
bool is_lasting(NvmlCode code) {
  return code == NvmlCode::not_supported || code == NvmlCode::no_permission ||
         code == NvmlCode::function_not_found || code == NvmlCode::invalid_argument;
}

/// One GPU, and which metrics it has.
struct Gpu {
  unsigned index = 0;
  NvmlDevice device = nullptr;
  bool lost = false;
  std::vector<std::pair<const Metric*, Series::Handle>> metrics;
  std::array<Series::Handle, std::size(kReasons)> reasons{};
};

std::string gpu_name(const Gpu& gpu) { return "GPU " + std::to_string(gpu.index); }

/// Adds what the GPU has of these, and says what it has not.
void add_metrics(const Nvml& nvml, std::span<const Metric> metrics, Gpu& gpu, Series& series,
                 std::vector<Missing>& missing, bool mig) {
  for (const Metric& metric : metrics) {
    const Reading reading = metric.read(nvml, gpu.device);
    if (!is_lasting(reading.code)) {
      const auto number = static_cast<std::int32_t>(gpu.index);
      gpu.metrics.emplace_back(&metric, series.add(*metric.spec, 0, number));
      continue;
    }
    std::string help = remedy(reading.code);
    if (help.empty() && mig) help = "MIG is on: NVML reports it only for whole GPUs";
    missing.push_back({.what = gpu_name(gpu) + ": " + std::string(metric.spec->name),
                       .why = why(reading.code),
                       .remedy = std::move(help)});
  }
}

/// A source whose GPUs are asked one after another.
class Gpus : public Source {
 public:
  Gpus(std::shared_ptr<Nvml> nvml, std::vector<Gpu> gpus)
      : nvml_(std::move(nvml)), gpus_(std::move(gpus)) {}

  void sample(const Tick& tick, Series& series) override {
    for (Gpu& gpu : gpus_) {
      if (!gpu.lost) ask(gpu, tick, series);
    }
  }

 protected:
  void ask(Gpu& gpu, const Tick& tick, Series& series) {
    for (const auto& [metric, handle] : gpu.metrics) {
      const Reading reading = metric->read(*nvml_, gpu.device);
      if (is_lost(reading.code)) {
        gpu.lost = true;
        series.lose(tick.time, gpu_name(gpu) + ": " + why(reading.code));
        return;
      }
      if (!reading.ok()) continue;
      series.put(tick.time, handle, reading.value);
      if (metric->spec->unit == "bits") put_reasons(gpu, tick, series, reading.value);
    }
  }

  static void put_reasons(const Gpu& gpu, const Tick& tick, Series& series, double value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t bit = 0; bit < std::size(kReasons); ++bit) {
      series.put(tick.time, gpu.reasons[bit], static_cast<double>(bits >> bit & 1U));
    }
  }

  std::shared_ptr<Nvml> nvml_;
  std::vector<Gpu> gpus_;
};

/// Adds the processes that use the GPUs.
class SlowGpus : public Gpus {
 public:
  SlowGpus(std::shared_ptr<Nvml> nvml, std::vector<Gpu> gpus, Surroundings& surroundings,
           Series& series)
      : Gpus(std::move(nvml), std::move(gpus)), surroundings_(surroundings) {
    for (const Gpu& gpu : gpus_) {
      const auto number = static_cast<std::int32_t>(gpu.index);
      handles_.push_back({series.add(counter("gpu.processes"), 0, number),
                          series.add(counter("gpu.other_processes"), 0, number),
                          series.add(counter("gpu.memory_by_others"), 0, number)});
    }
  }

  void sample(const Tick& tick, Series& series) override {
    Gpus::sample(tick, series);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (!gpus_[i].lost) count_processes(gpus_[i], handles_[i], tick, series);
    }
  }

 private:
  struct Handles {
    Series::Handle processes;
    Series::Handle others;
    Series::Handle memory;
  };

  void count_processes(const Gpu& gpu, const Handles& handles, const Tick& tick, Series& series) {
    const auto processes = nvml_->processes(gpu.device);
    if (!processes.ok()) return;
    std::size_t ours = 0;
    std::size_t unseen = 0;
    double held = 0;
    bool all_known = true;
    for (const NvmlProcess& process : processes.value) {
      const auto pid = static_cast<std::int32_t>(process.pid);
      if (surroundings_.tree.contains(pid)) {
        ++ours;
        continue;
      }
      const std::string folder = surroundings_.roots.proc + "/" + std::to_string(pid);
      if (!why_unreadable(folder + "/stat").empty()) ++unseen;
      all_known = all_known && process.memory_bytes.has_value();
      held += static_cast<double>(process.memory_bytes.value_or(0));
    }
    const std::size_t others = processes.value.size() - ours;
    series.put(tick.time, handles.processes, static_cast<double>(processes.value.size()));
    // The driver speaks of the host's pids. In a container those may be our own processes under
    // other numbers: then others are not reported.
    if (unseen > 0 && ours == 0) return;
    series.put(tick.time, handles.others, static_cast<double>(others));
    if (all_known) series.put(tick.time, handles.memory, held);
  }

  Surroundings& surroundings_;
  std::vector<Handles> handles_;
};

struct Found {
  std::shared_ptr<Nvml> nvml;
  std::vector<Gpu> gpus;
  std::vector<Missing> missing;
};

Found find_gpus(const Surroundings& surroundings) {
  Found found;
  auto nvml = Nvml::open(surroundings.nvml_path);
  const auto give_up = [&](std::string reason, std::string help) {
    found.missing.push_back({.what = "GPU telemetry",
                             .why = std::move(reason),
                             .remedy = std::move(help),
                             .whole_source = true});
  };
  if (!nvml) {
    give_up(nvml.error().message,
            nvml.error().code == ErrorCode::not_found
                ? "the NVIDIA driver; in a container: start it with --gpus all and "
                  "NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                : remedy(NvmlCode::no_permission));
    return found;
  }
  found.nvml = *nvml;
  const auto count = found.nvml->device_count();
  if (!count.ok() || count.value == 0) {
    give_up(count.ok() ? "the driver sees no GPU" : why(count.code), remedy(count.code));
    return found;
  }
  for (unsigned index = 0; index < count.value; ++index) {
    const auto device = found.nvml->device(index);
    if (device.ok()) {
      found.gpus.push_back({.index = index, .device = device.value});
    } else {
      found.missing.push_back({.what = "GPU " + std::to_string(index),
                               .why = why(device.code),
                               .remedy = remedy(device.code)});
    }
  }
  return found;
}

bool counts_pcie(const Nvml& nvml, const Gpu& gpu) { return nvml.pcie_sent(gpu.device).ok(); }

Opened open(Surroundings& surroundings, Series& series) {
  Found found = find_gpus(surroundings);
  if (found.gpus.empty()) return {.source = nullptr, .missing = std::move(found.missing)};
  for (Gpu& gpu : found.gpus) {
    const bool mig = found.nvml->mig_enabled(gpu.device).value;
    std::vector<Missing> missing;
    add_metrics(*found.nvml, kFast, gpu, series, missing, mig);
    // Old drivers measure the rate instead, which is as good.
    std::erase_if(
        missing, [](const Missing& line) { return line.what.find(".pcie_") != std::string::npos; });
    found.missing.insert(found.missing.end(), missing.begin(), missing.end());
    for (std::size_t bit = 0; bit < std::size(kReasons); ++bit) {
      gpu.reasons[bit] = series.add(*kReasons[bit], 0, static_cast<std::int32_t>(gpu.index));
    }
  }
  return {.source = std::make_unique<Gpus>(found.nvml, std::move(found.gpus)),
          .missing = std::move(found.missing)};
}

Opened open_slow(Surroundings& surroundings, Series& series) {
  Found found = find_gpus(surroundings);
  // Why there is none at all, `gpu` has reported.
  if (found.gpus.empty()) return {};
  std::vector<Missing> missing;
  for (Gpu& gpu : found.gpus) {
    const bool mig = found.nvml->mig_enabled(gpu.device).value;
    add_metrics(*found.nvml, kSlow, gpu, series, missing, mig);
    if (!counts_pcie(*found.nvml, gpu)) {
      add_metrics(*found.nvml, kRates, gpu, series, missing, mig);
    }
    const NvmlCode listing = found.nvml->processes(gpu.device).code;
    if (is_lasting(listing)) {
      missing.push_back({.what = gpu_name(gpu) + ": " + std::string(counter("gpu.processes").name),
                         .why = why(listing),
                         .remedy = remedy(listing)});
    }
  }
  return {
      .source = std::make_unique<SlowGpus>(found.nvml, std::move(found.gpus), surroundings, series),
      .missing = std::move(missing)};
}

}  // namespace
}  // namespace gpu_reader

SourceSpec gpu_source() {
  return {
      .name = kGpuSource,
      .title = "GPUs: use, memory, power, clocks, throttling",
      .lost =
          "utilisation, memory, power, energy, clocks, throttling, temperature, PCIe and ECC of "
          "GPUs (gpu.*); energy and money of GPUs; the rules throttling and neighbour for GPUs",
      .lane = Lane::gpu,
      .open = gpu_reader::open,
      .counters = gpu_reader::kCounters};
}

/// Its counters stand in the table of `gpu`.
SourceSpec gpu_slow_source() {
  return {.name = "gpu-slow",
          .title = "GPUs: PCIe, ECC, other processes",
          .lost = "PCIe, ECC and other processes of GPUs (gpu.*)",
          .lane = Lane::gpu_slow,
          .open = gpu_reader::open_slow,
          .counters = {}};
}

}  // namespace fathom::monitor
