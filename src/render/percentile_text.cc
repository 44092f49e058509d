// Writes a percentile or why there is none.
#include "render/percentile_text.h"

#include <cmath>

#include "base/quantity_text.h"
#include "engine/diagnosis/diagnosis.h"

namespace fathom {

std::string percentile_text(double fraction, const std::optional<double>& ns, std::size_t count) {
  std::string text = "p" + std::to_string(std::lround(100 * fraction)) + " ";
  if (!ns) return text + std::string(kNoValue) + " (" + percentile_reason(count, fraction) + ")";
  return text + duration_text(duration_ns(std::llround(*ns)));
}

std::optional<std::int64_t> whole_percentile(const std::optional<double>& ns) {
  return ns ? std::optional<std::int64_t>(std::llround(*ns)) : std::nullopt;
}

}  // namespace fathom
