// Canary: a function that Fathom's hook says is on a thread's stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sample/mappings.h"
#include "sample/memory.h"
#include "sample/stack.h"

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
/// `stack` is that of its thread.
bool is_on(const Stack& stack, const Canary& canary, CodeTable& codes);

/// How often a stack may not show it.
inline constexpr int kMostCanaryMissed = 5;
/// Why the stacks of a process are not believed that did not show it.
inline constexpr std::string_view kCanaryMissed =
    "its Python's stacks are not kept as they are in its version: the function in which Fathom's "
    "hook waits there is not on them";

}  // namespace fathom::sample
