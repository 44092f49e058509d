// CounterSeries: everything of a trace that has a value over time, and its summary per bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// One counter. It keeps a value until the next.
struct CounterSeries {
  std::string title;    ///< "gpu.power", "Memory allocated, device 0".
  std::string unit;     ///< "W", "bytes"; may be empty.
  std::string process;  ///< The process as written, or empty.
  std::int32_t device = -1;
  /// Either nothing or all: of a bin only the mean says something.
  bool is_share = false;
  std::vector<Time> times;  ///< Not descending; of equal ones the last holds.
  std::vector<double> values;
};

/// Sampled counters, and what the framework's allocator held and had reserved on each device. O(n
/// log n), linear where the file is in order.
std::vector<CounterSeries> counter_series(const Trace& trace);

/// What a counter did in one bin: the value at its begin, and those that began in it. All are the
/// mean where the counter is a share.
struct CounterBin {
  Time begin{};
  double least = 0;
  double most = 0;
  double mean = 0;  ///< Weighted by time, of the part of the bin in which a value is known.
  double last = 0;
};

/// The stretch in `bins` equal parts; a part in which no value is known is left out. O(bins +
/// values inside + log n).
std::vector<CounterBin> counter_bins(const CounterSeries& series, Interval stretch,
                                     std::size_t bins);

}  // namespace fathom
