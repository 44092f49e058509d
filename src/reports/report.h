// A report: a table that describes itself, and thereby exists in every output, in the API and in
// the docs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/context.h"
#include "base/result.h"

namespace fathom {

/// What a column holds; decides how people see it. JSON and CSV always carry the raw value.
enum class ColumnKind : std::uint8_t {
  text,
  name,  ///< Text that may be shortened in the middle on a narrow terminal.
  integer,
  count,        ///< Integer shown with thousands separators.
  duration_ns,  ///< Integer nanoseconds; shown as µs, ms, s.
  time_ns,      ///< Integer nanoseconds from the start of the trace.
  bytes,        ///< Integer bytes; shown as KiB, MiB.
  real,
  percent,  ///< 0…100.
  flag,     ///< true / false.
};

struct ColumnSpec {
  std::string_view name;  ///< snake_case with the unit as suffix.
  ColumnKind kind;
  std::string_view unit;  ///< "ns", "bytes", "percent", "GB/s", or "".
  std::string_view doc;   ///< One sentence: what it is, not how it is computed.
  bool wide = false;      ///< True: left out of text output unless --wide or --columns asks for it.
  /// The --group-by choice whose rows it tells apart: text then shows it right after the first
  /// column, also when it is wide.
  std::string_view group = {};
};

/// Null (does not apply or was not recorded), bool, integer, real or text.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Some column names mean something to every renderer:
/// `section`  first column, kind text: rows of equal section are shown together under that heading;
/// `unit`     text beside a column `value` whose rows measure different things: "ns", "bytes",
///            "percent", "count", "GB/s" or "" per row; people see the value in that unit;
/// `status`   "ok", "note", "warning", "bad", "not applicable": coloured on a terminal;
/// `edge`     a flag: text marks the first column of rows where it holds with "*", and says why;
/// `depth`    the first column is a path ("a/b/c"): text indents rows that are in a walk's order.
///
/// In a table with sections, a further column of kind text that is not null (`note`, `advice`, …)
/// is shown below or beside its row, so leave it null where there is nothing to say.
struct Table {
  std::vector<std::vector<Value>> rows;  ///< Each as long as the report's columns, in their order.
  std::vector<std::string> notes;        ///< Sentences: what was assumed, what abstains and why.
  /// The rows as text shows them when nothing else is asked for: what says nothing left out, what
  /// belongs together on one line. Empty: all rows.
  std::vector<std::vector<Value>> brief = {};
};

struct Report {
  std::string_view id;     ///< "ops"; also the subcommand.
  std::string_view title;  ///< One line.
  std::string_view doc;    ///< A paragraph: what a row is, what sums to what.
  std::span<const ColumnSpec> columns;
  std::span<const std::string_view> group_by;  ///< Choices; the first is the default; may be empty.
  std::string_view sort;  ///< Column to sort by when --sort is not given, "-name" for descending,
                          ///< or "" for the order computed.
  std::string_view example;  ///< A command line worth copying.
  Result<Table> (*compute)(const Context& context);
  /// The further members of TableOptions that it reads: "torch", "metric". Others are not offered
  /// to users.
  std::span<const std::string_view> options = {};
  /// Columns from the most important on: on a narrow terminal, text leaves out those that are not
  /// named here, then the last of these. Empty: the last columns go first.
  std::span<const std::string_view> importance = {};
  /// True: it tells of the whole recording, so no steps, device or window can be chosen.
  bool whole = false;
};

/// Every report, in the order of --help.
std::span<const Report> all_reports();
/// The report of that id, or nullptr.
const Report* find_report(std::string_view id);

}  // namespace fathom
