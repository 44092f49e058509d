// What was measured, in words: of commands and of functions alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "measure/claim.h"
#include "measure/conditions.h"
#include "measure/measured.h"

namespace fathom::measure {

/// "12.3 ms", "12.34 ns", "1.5 GiB", "3.2 J", "1,234 /s".
std::string metric_text(double value, Unit unit);
/// "+3.1 % (+2.5 % to +3.6 %)".
std::string change_text(const PairedRatio& ratio);
/// "faster", "less"; "same within ±1 %".
std::string claim_word(const Claim& claim, double resolution, Unit unit);
/// "slower: +3.1 % (+2.5 % to +3.6 %)"; why the result is unknown, where that is to be said. Empty
/// for a side that stands alone.
std::string claim_line(const MeasuredMetric& metric, double resolution, bool reason = true);
/// "median 12 ms (11 ms to 13 ms), mean …, p95 …; 2 outliers". `withheld`: why there are no
/// percentiles, where it is not the number of values.
std::string spread_text(const SampleSummary& summary, Unit unit, std::string_view withheld = {});
/// "never steady", for spread_text(); empty where nothing is withheld.
std::string_view withheld_of(const MeasuredSide& side);
/// That a verdict stands though a side was never steady, and what it is about; else empty.
std::string unsteady_note(const MeasuredMetric& metric);
/// What a value is called, and how one says that the first do not count.
struct ValueWords {
  std::string_view one;      ///< "run"
  std::string_view many;     ///< "runs"
  std::string_view warm_up;  ///< "--warmup"
};
/// "; faster after 12 runs (--warmup), then median 9 ms"; "; never steady: …"; empty where the
/// values are steady or too few.
std::string steadiness_text(const MeasuredSide& side, Unit unit, const ValueWords& words);
/// "3 pairs in random order, 95 % interval by the sign test".
std::string pairs_text(std::size_t pairs);
/// "GPU 0, 1: NVIDIA H100, power limit 350.0 W (by default 700.0 W); driver 550.54.15"; empty
/// without GPUs.
std::string gpus_text(const Conditions& conditions);
/// Processor, cores, quota, governor, load, kernel.
std::string conditions_text(const Conditions& conditions);
/// That the quota of the control group held programs back; empty where it did not.
std::string throttled_note(const Conditions& conditions);

}  // namespace fathom::measure
