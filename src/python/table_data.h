// What a table in Python is made of.
#pragma once

#include <memory>
#include <vector>

#include "engine/session.h"
#include "render/column_arrays.h"

namespace fathom::python {

/// Immutable, so shared without locks between the table, its columns and whoever took their
/// buffers. Owns everything; the session may go.
struct TableData {
  View view;
  std::vector<ColumnArray> columns;  ///< Those of the view.
  /// Of a table of several recordings, theirs; for text, which is shown one after the other.
  std::vector<std::shared_ptr<const TableData>> parts = {};
};

using TablePtr = std::shared_ptr<const TableData>;

/// A table as Python holds it.
struct Table {
  TablePtr data;
  [[nodiscard]] std::size_t rows() const { return data->view.table.rows.size(); }
};

}  // namespace fathom::python
