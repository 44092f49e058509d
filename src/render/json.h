// Tables as JSON, schema fathom.table/1 (docs/metrics.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/session.h"

namespace fathom {

/// The kind of a column as JSON names it: "duration_ns".
std::string_view kind_name(ColumnKind kind);
/// A value as JSON: null, true, 12, 0.5, "text". Not-a-number is null.
std::string json_value(const Value& value);

/// {"schema", "report", "input", "columns", "rows", "rows_total", "notes"}, indented by `indent`,
/// no final newline.
std::string render_json(const View& view, std::string_view indent = {});

/// The frame around several inputs: {"schema", "report", "inputs": [ … ]}.
std::string json_inputs_begin(const Report& report);
std::string json_inputs_end();

}  // namespace fathom
