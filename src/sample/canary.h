// Canary: a function that Fathom's hook says is on a thread's stack.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sample/mappings.h"
#include "sample/memory.h"

namespace fathom::sample {

struct Canary {
  std::int64_t native = 0;  ///< What gettid() returns in the thread.
  Address code = 0;         ///< Of the function's code object.
  bool operator==(const Canary&) const = default;
};

/// Where the hook in a process has written it; nothing where there is no hook, or none yet.
std::optional<Address> find_canary(const std::vector<Mapping>& mappings);
/// Nothing while no thread is in the function.
std::optional<Canary> read_canary(const Memory& memory, Address page);

}  // namespace fathom::sample
