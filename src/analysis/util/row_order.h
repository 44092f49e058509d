// Sorting of row numbers by a key that lies in the columns: fast where the file is nearly in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fathom {

namespace row_order_internal {

/// Merges the neighbours rows[begin, middle) and rows[middle, end), both sorted; stable.
template <typename Row, typename Less>
void merge_neighbours(std::span<Row> rows, std::size_t begin, std::size_t middle, std::size_t end,
                      const Less& less, std::vector<Row>& buffer) {
  if (!less(rows[middle], rows[middle - 1])) return;
  const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  // What already lies where it belongs is left alone: only the part that overlaps moves.
  const auto left = std::upper_bound(at(begin), at(middle), rows[middle], less);
  const auto right = std::lower_bound(at(middle), at(end), rows[middle - 1], less);
  buffer.assign(left, at(middle));
  auto out = left;
  auto a = buffer.begin();
  auto b = at(middle);
  while (a != buffer.end() && b != right) *out++ = less(*b, *a) ? *b++ : *a++;
  std::copy(a, buffer.end(), out);
}

}  // namespace row_order_internal

/// Sorts `rows` stably by `less`. Natural merge sort: O(n) for sorted input, O(n log r) comparisons
/// for r sorted runs, and cheap for local disorder, which is what recorders leave (blocks per kind
/// of event, children before their parents). Needs at most half of the rows again as a buffer.
template <typename Row, typename Less>
void sort_rows(std::span<Row> rows, const Less& less) {
  std::vector<std::size_t> runs{0};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (less(rows[i], rows[i - 1])) runs.push_back(i);
  }
  runs.push_back(rows.size());
  std::vector<Row> buffer;
  while (runs.size() > 2) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < runs.size(); i += 2) {
      row_order_internal::merge_neighbours(rows, runs[i - 2], runs[i - 1], runs[i], less, buffer);
      runs[kept++] = runs[i];
    }
    if (runs.size() % 2 == 0) runs[kept++] = runs.back();
    runs.resize(kept);
  }
}

/// Moves the rows so that place i holds what was rows[order[i]]; `order` names each row once. For
/// rows too large to be sorted as they are.
template <typename Row>
void arrange(std::span<Row> rows, std::vector<std::uint32_t> order) {
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    if (order[first] == first) continue;
    const Row lifted = rows[first];
    std::uint32_t free = first;
    for (; order[free] != first; free = std::exchange(order[free], free)) {
      rows[free] = rows[order[free]];
    }
    rows[free] = lifted;
    order[free] = free;
  }
}

}  // namespace fathom
