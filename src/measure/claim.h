// What pairs allow to be claimed about two sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/sampling.h"
#include "stats/paired_ratio.h"

namespace fathom::measure {

/// Of the new side against the base. For what is no time, "faster" is less.
enum class Verdict : std::uint8_t { faster, slower, same, cannot_tell };
std::string_view to_string(Verdict verdict);

struct Claim {
  Verdict verdict = Verdict::cannot_tell;
  std::optional<PairedRatio> ratio;  ///< New by base, with its interval at 95 %.
  std::optional<double> p;           ///< Of the sign test.
  std::string reason;                ///< Why the result is unknown; else empty.
};

/// Values of pairs that were taken in random order. `same` where the interval lies within
/// ±resolution; else `faster` or `slower` where it leaves 1 out; else the result is unknown. Below
/// 6 pairs nothing is claimed.
Claim claim_of(std::span<const double> base, std::span<const double> now, double resolution);

/// Says that the interval of a sampling that stopped as precise is wider than what it stopped for
/// by more than a quarter, which is what an estimate from absolute values may be wrong by; else "".
std::string wider_note(const Sampled& sampled, const Claim& claim, double resolution);

/// Of claims about one comparison that stand beside its headline: faster and slower stay where the
/// sign test rejects at a false discovery rate of 5 % over all of them (Benjamini and Hochberg).
void judge_together(std::vector<Claim>& claims);

/// "±0.5 %" of 0.005.
std::string within_text(double resolution);

}  // namespace fathom::measure
