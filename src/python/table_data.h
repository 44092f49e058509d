// What a table in Python is made of.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/session.h"

namespace fathom::python {

/// Immutable, so shared without locks between the table, its columns and whoever took their
/// buffers. Owns everything; the session may go.
struct TableData {
  /// A recording's own table within one of several: for text, which shows one after the other.
  struct Part {
    View frame;             ///< Without its rows.
    std::size_t begin = 0;  ///< Its rows in `view`.
    std::size_t end = 0;
  };

  View view;
  std::vector<Part> parts = {};  ///< Of a table of several recordings.
};

/// The columns that a table of several recordings has before those of the report.
inline constexpr std::size_t kWhoseColumns = 2;

using TablePtr = std::shared_ptr<const TableData>;

/// A table as Python holds it.
struct Table {
  TablePtr data;
  [[nodiscard]] const fathom::Table& values() const { return data->view.table; }
  [[nodiscard]] std::size_t rows() const { return values().rows(); }
};

}  // namespace fathom::python
