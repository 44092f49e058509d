// Names of signals.
#pragma once

#include <string>
#include <string_view>

namespace fathom::capture {

/// "SIGTERM" of 15, "signal 77" of what has no name.
std::string signal_name(int number);
/// Of "SIGUSR1", "USR1", "usr1" or "10"; 0 where there is none such.
int signal_number(std::string_view text);

}  // namespace fathom::capture
