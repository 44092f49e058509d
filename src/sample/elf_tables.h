// The tables of an ELF file: segments, sections, strings. Bounded, and nothing in them is believed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "sample/elf.h"

namespace fathom::sample {

/// Is it a 64-bit file of this byte order?
bool is_ours(const Elf64_Ehdr& header);

/// The table of segments; empty where there is none.
std::vector<Elf64_Phdr> read_segments(const FileReader& file);

/// The table of sections; empty where there is none. `names` is the section of their names.
std::vector<Elf64_Shdr> read_sections(const FileReader& file, std::uint16_t& names);

/// Empty where it holds no strings, or too many.
std::string read_strings(const FileReader& file, const Elf64_Shdr& section);

/// Does this name lie there?
bool is_named(const std::string& strings, std::uint64_t at, std::string_view name);

/// Of a table, the symbols that are looked at.
inline constexpr std::uint64_t kMostSymbols = std::uint64_t{4} << 20U;

}  // namespace fathom::sample
