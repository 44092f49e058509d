// Writes samples of hardware counters into the capture file.
#include "capture/cuda/pm_writer.h"

#include <utility>
#include <vector>

#include "capture/inside/attempt.h"

namespace fathom::cuda {

void PmWriter::begin(const PmReport::Begun& begun) {
  if (gpus_.contains(begun.gpu)) return;
  std::string metrics;
  std::vector<std::uint32_t> counters;
  for (const PmTrack& track : begun.plan.tracks) {
    counters.push_back(writer_.counter(0, begun.gpu, track.name, track.unit));
    metrics += (metrics.empty() ? "" : ", ") + track.name + " = " + track.metric;
  }
  gpus_.try_emplace(begun.gpu, begun.plan).first->second.counters = std::move(counters);
  const std::string key = "cuda.metrics." + std::to_string(begun.gpu) + ".";
  writer_.fact(pid_, key + "chip", begun.chip);
  writer_.fact(pid_, key + "counters", metrics);
  writer_.fact(pid_, key + "interval_ns", std::to_string(begun.plan.interval_ns));
  // Nothing is lost by it.
  if (!begun.host_end.empty()) writer_.fact(pid_, key + "host_end", begun.host_end);
  if (begun.plan.interval_cycles > 0)
    writer_.fact(pid_, key + "interval_cycles", std::to_string(begun.plan.interval_cycles));
}

void PmWriter::count(Gpu& gpu) {
  const PmCounts& counts = gpu.series.counts();
  if (counts.lost > gpu.reported.lost)
    writer_.dropped("samples of GPU metrics that the hardware buffer had no room for",
                    counts.lost - gpu.reported.lost);
  if (counts.without_time > gpu.reported.without_time)
    writer_.dropped("samples of GPU metrics with impossible times",
                    counts.without_time - gpu.reported.without_time);
  if (counts.of_no_clock > gpu.reported.of_no_clock)
    writer_.dropped("samples of GPU metrics whose times are unknown",
                    counts.of_no_clock - gpu.reported.of_no_clock);
  gpu.reported = counts;
}

void PmWriter::look_at_clock(int number, Gpu& gpu) {
  if (gpu.series.counts().of_no_clock == 0 || gpu.reported.of_no_clock > 0) return;
  losses_.push_back({"the rest of the hardware counters of GPU " + std::to_string(number),
                     "times unknown: they are of a clock that runs neither like CUPTI's nor like "
                     "the processor's counter, which another profiler in this process has set",
                     "record without the program's own profile"});
}

std::vector<Loss> PmWriter::write(const PmReport& news) {
  for (const PmReport::Begun& begun : news.begun) inside::attempt([&] { begin(begun); });
  for (const PmReport::Looked& looked : news.looked) inside::attempt([&] { write(looked); });
  return std::exchange(losses_, {});
}

void PmWriter::write(const PmReport::Looked& looked) {
  const auto at = gpus_.find(looked.gpu);
  if (at == gpus_.end()) return;
  Gpu& gpu = at->second;
  std::vector<PmPoint> points;
  gpu.series.convert(looked.batch, clock_, points);
  for (const PmPoint& point : points)
    writer_.sample(point.time, gpu.counters[point.track], point.value);
  look_at_clock(looked.gpu, gpu);
  count(gpu);
}

void PmWriter::write_facts() {
  for (const auto& [number, gpu] : gpus_) {
    const std::string key = "cuda.metrics." + std::to_string(number) + ".";
    const PmCounts& counts = gpu.series.counts();
    writer_.fact(pid_, key + "samples", std::to_string(counts.samples));
    if (counts.overflows > 0)
      writer_.fact(pid_, key + "overflows", std::to_string(counts.overflows));
    if (counts.of_no_clock > 0) writer_.fact(pid_, key + "times", "unknown");
    if (counts.by_cpu > 0)
      writer_.fact(pid_, key + "samples_by_processor_clock", std::to_string(counts.by_cpu));
    const PmClock& clock = gpu.series.clock();
    writer_.fact(pid_, key + "times_within_ns",
                 std::to_string(clock_.quality().error + clock.error()));
    if (clock.shift() != 0)
      writer_.fact(pid_, key + "clock_shift_ns", std::to_string(clock.shift()));
  }
}

}  // namespace fathom::cuda
