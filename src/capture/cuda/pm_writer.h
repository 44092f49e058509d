// PmWriter: samples of hardware counters as counters of a capture file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/cuda/clock_fit.h"
#include "capture/cuda/fallback.h"
#include "capture/cuda/pm_sampler.h"
#include "wire/writer.h"

namespace fathom::cuda {

/// Of the recorder's thread.
class PmWriter {
 public:
  PmWriter(wire::Writer& writer, const ClockFit& clock, std::int32_t pid)
      : writer_(writer), clock_(clock), pid_(pid) {}
  /// What is lost by it: samples whose times are unknown, of each GPU once.
  std::vector<Loss> write(const PmReport& news);
  /// Facts: how many samples there were, how well their clock is known.
  void write_facts();

 private:
  struct Gpu {
    explicit Gpu(const PmPlan& plan) : series(plan) {}
    PmSeries series;
    std::vector<std::uint32_t> counters;  // of the file, one for each track
    PmCounts reported;
  };
  void begin(const PmReport::Begun& begun);
  void write(const PmReport::Looked& looked);
  void count(Gpu& gpu);
  void look_at_clock(int number, Gpu& gpu);

  wire::Writer& writer_;
  const ClockFit& clock_;
  std::int32_t pid_;
  std::map<int, Gpu> gpus_;
  std::vector<Loss> losses_;
};

}  // namespace fathom::cuda
