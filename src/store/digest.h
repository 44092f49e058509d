// A digest of everything in a trace, to compare two readers of the same file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// One table: how many rows, and the sum over its rows of a hash of each row's line of text. The
/// order of rows does not matter; every typed attribute does. docs/formats.md, section "Digest",
/// has the lines.
struct TableDigest {
  std::string_view table;
  std::uint64_t rows = 0;
  std::uint64_t sum = 0;
  friend bool operator==(const TableDigest&, const TableDigest&) = default;
};

struct Digest {
  std::vector<TableDigest> tables;  ///< Always the same tables in the same order.
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest(const Trace& trace);

/// "table rows sum" per line, the sum as 16 hexadecimal digits.
std::string to_string(const Digest& digest);

/// Calls visit(table, line) for every row, so that two digests that differ can be compared line by
/// line. The line is borrowed for the call.
void for_each_digest_line(
    const Trace& trace,
    const std::function<void(std::string_view table, std::string_view line)>& visit);

}  // namespace fathom
