// The parts of the module, one file each.
#pragma once

#include <nanobind/nanobind.h>

#include "python/table_data.h"

namespace fathom::python {

void bind_reports(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_sessions(nanobind::module_& module);
void bind_bench(nanobind::module_& module);
void bind_record(nanobind::module_& module);

/// A value of a table as Python has it; null is None.
nanobind::object to_python(const Value& value);

}  // namespace fathom::python
