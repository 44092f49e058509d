// Work that may fail for lack of memory: it is left undone and counted, and the program goes on.
#pragma once

#include <cstdint>
#include <utility>

namespace fathom::inside {

/// Something was not recorded because there was no memory for it.
void count_failure() noexcept;
/// How often, since the last call. The recorder writes it to the capture file as dropped.
std::uint64_t take_failures() noexcept;

/// Calls work(). What it throws goes no further, as it would end the program: it is counted. False
/// where it threw; what work() had done by then stays done.
template <typename Work>
bool attempt(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (...) {
    count_failure();
    return false;
  }
}

}  // namespace fathom::inside
