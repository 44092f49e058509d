// Writes stacks as lines for flame graphs.
#include "render/folded.h"

#include <algorithm>

namespace fathom {
namespace {

/// Control characters would end the line or reach a terminal raw.
void append_text(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == '\x7f' ? ' ' : c;
}

std::string frame(std::string text) {
  std::ranges::replace(text, ';', ',');
  return text;
}

}  // namespace

bool has_stacks(const Report& report) { return report.columns.front().name == "stack"; }

std::size_t time_column(const View& view) {
  const auto time = std::ranges::find(view.columns(), ColumnKind::duration_ns, &ColumnSpec::kind);
  return static_cast<std::size_t>(time - view.columns().begin());
}

std::string render_folded(const View& view, bool with_input) {
  const std::size_t column = time_column(view);
  std::string out;
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    if (with_input) append_text(out, frame(view.input) + ";");
    append_text(out, std::get<std::string_view>(view.table.at(row, 0)));
    out += ' ' + std::to_string(std::get<std::int64_t>(view.table.at(row, column))) + '\n';
  }
  return out;
}

}  // namespace fathom
