// LaneRun: the sources of one lane, opened and asked together; no thread, no clock of its own.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "monitor/source.h"

namespace fathom::monitor {

class LaneRun {
 public:
  /// Opens the lane's sources. Both must outlive it.
  LaneRun(Lane lane, Surroundings& surroundings, SampleSink& sink);

  void sample(const Tick& tick);
  /// Writes what was held back.
  void finish() { series_.finish_all(); }

  [[nodiscard]] const std::vector<Missing>& missing() const { return missing_; }
  /// Names of those that could be opened.
  [[nodiscard]] const std::vector<std::string_view>& sources() const { return names_; }
  Series& series() { return series_; }

 private:
  Series series_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::string_view> names_;
  std::vector<Missing> missing_;
};

}  // namespace fathom::monitor
