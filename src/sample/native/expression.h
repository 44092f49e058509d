// DWARF expressions, as call frame information uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sample/native/registers.h"

namespace fathom::sample::native {

/// What the expression computes. `first` is what lies on its stack before it begins. Nothing where
/// it needs a register or memory that is not known, does not end, or is none.
std::optional<std::uint64_t> evaluate(std::span<const std::byte> expression,
                                      const Registers& registers, const StackCopy& stack,
                                      std::optional<std::uint64_t> first);

}  // namespace fathom::sample::native
