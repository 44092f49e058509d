// A request to record, in the words of libkineto.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace fathom::capture {

/// libkineto is ready to record so long after its configuration has arrived.
inline constexpr Duration kKinetoWarmup = std::chrono::seconds(1);

struct KinetoConfig {
  std::string file;                ///< Where the trace goes, as the program names it.
  std::int64_t start_unix_ms = 0;  ///< 0: at once.
  Duration duration{};
  std::vector<std::string> with;  ///< shapes, stacks, memory, flops.
};

/// Lines of KEY=VALUE: the answer to a FabricRequest.
std::string to_text(const KinetoConfig& config);

}  // namespace fathom::capture
