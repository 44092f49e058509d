// What to say where the system lets nobody begin one more thread or process.
#pragma once

#include <string_view>

namespace fathom {

inline constexpr std::string_view kProcessLimit =
    "a limit on processes is reached (ulimit -u, or pids.max of the control group); raise it, or "
    "end other programs";

}  // namespace fathom
