// Which line of the source an instruction belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sample/layout.h"

namespace fathom::sample {

/// `instruction` is the offset of the instruction in the bytecode, in bytes. Nothing where the
/// table has no line for it (the compiler's own instructions), or is damaged.
std::optional<std::int32_t> line_at(LineTable kind, std::span<const std::byte> table,
                                    std::int32_t first_line, std::uint32_t instruction);

}  // namespace fathom::sample
