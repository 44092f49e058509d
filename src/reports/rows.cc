// Fills a table from a source of rows.
#include "reports/rows.h"

#include <algorithm>
#include <numeric>

namespace fathom {

Table materialise(const RowSource& source, std::span<const ColumnSpec> specs,
                  std::span<const std::size_t> columns, const RowChoice& rows) {
  std::vector<ColumnSpec> chosen;
  for (const std::size_t column : columns) chosen.push_back(specs[column]);
  Table table(std::move(chosen));
  table.reserve(rows.size());
  // In blocks of rows that stay in the cache: sorted rows lie anywhere.
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < rows.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, rows.size());
    for (std::size_t place = 0; place < columns.size(); ++place) {
      for (std::size_t i = begin; i < end; ++i)
        table.append(place, source.cell(rows[i], columns[place]));
    }
  }
  return table;
}

Table materialise(const RowSource& source, std::span<const ColumnSpec> specs) {
  std::vector<std::size_t> columns(specs.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return materialise(source, specs, columns, RowChoice(source.rows()));
}

}  // namespace fathom
