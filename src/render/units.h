// Values as people read them: µs and MiB, thousands separators, four significant digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity_text.h"
#include "engine/session.h"

namespace fathom {

/// "850 ns", "12.34 µs", "1.235 s". The unit takes two columns, so that right-aligned values line
/// up.
std::string format_duration(std::int64_t ns);
/// The value of a column of this kind; text comes out printable.
std::string format_value(const Value& value, ColumnKind kind);
/// The value of a row that names its own unit (see Table): "ns", "bytes", "percent", "count",
/// "GB/s" or "".
std::string format_value_in(const Value& value, std::string_view unit);

/// How people read a column's name: "device_self_ns" is "device self", "share_percent" is "share
/// %".
std::string heading_of(const ColumnSpec& column);

}  // namespace fathom
