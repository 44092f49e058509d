// Tables and columns through Arrow's C data interface, without Arrow.
#pragma once

#include <cstddef>
#include <memory>

#include <nanobind/nanobind.h>

#include "python/table_data.h"

namespace fathom::python {

/// PyCapsules as the Arrow PyCapsule interface asks for them. Arrays borrow numbers and bits
/// of validity from `table` and keep it alive; texts, which the table has interned, and flags,
/// which it has as bytes, are laid out for the array.
nanobind::object table_schema(const std::shared_ptr<const TableData>& table);
nanobind::object table_array(const std::shared_ptr<const TableData>& table);
/// A stream of one batch.
nanobind::object table_stream(const std::shared_ptr<const TableData>& table);
nanobind::object column_schema(const std::shared_ptr<const TableData>& table, std::size_t column);
nanobind::object column_array(const std::shared_ptr<const TableData>& table, std::size_t column);

}  // namespace fathom::python
