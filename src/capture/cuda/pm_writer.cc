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
  gpu.reported = counts;
}

void PmWriter::write(const PmReport& news) {
  for (const PmReport::Begun& begun : news.begun) inside::attempt([&] { begin(begun); });
  for (const PmReport::Looked& looked : news.looked) inside::attempt([&] { write(looked); });
}

void PmWriter::write(const PmReport::Looked& looked) {
  const auto at = gpus_.find(looked.gpu);
  if (at == gpus_.end()) return;
  Gpu& gpu = at->second;
  std::vector<PmPoint> points;
  gpu.series.convert(looked.batch, clock_, points);
  for (const PmPoint& point : points)
    writer_.sample(point.time, gpu.counters[point.track], point.value);
  count(gpu);
}

void PmWriter::write_facts() {
  for (const auto& [number, gpu] : gpus_) {
    const std::string key = "cuda.metrics." + std::to_string(number) + ".";
    const PmCounts& counts = gpu.series.counts();
    writer_.fact(pid_, key + "samples", std::to_string(counts.samples));
    if (counts.overflows > 0)
      writer_.fact(pid_, key + "overflows", std::to_string(counts.overflows));
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
