// Reads Python objects: types, texts, bytes. What cannot be right is nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sample/layout.h"
#include "sample/memory.h"

namespace fathom::sample {

/// The name of a type, at most 63 bytes.
std::optional<std::string> read_type_name(const Memory& memory, const Layout& layout, Address type);

/// A str as UTF-8; of a long one the first 1024 characters.
std::optional<std::string> read_text(const Memory& memory, const Layout& layout, Address object);

/// A bytes object; nothing for one of more than `limit` bytes.
std::optional<std::vector<std::byte>> read_bytes(const Memory& memory, const Layout& layout,
                                                 Address object, std::size_t limit);

}  // namespace fathom::sample
