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

StackWeight stack_weight(const View& view) {
  const auto first = [&view](ColumnKind kind) {
    const auto found = std::ranges::find(view.columns(), kind, &ColumnSpec::kind);
    return static_cast<std::size_t>(found - view.columns().begin());
  };
  const std::size_t time = first(ColumnKind::duration_ns);
  // Of one recording, either all have a time or none.
  const bool known =
      view.table.rows() == 0 || std::holds_alternative<std::int64_t>(view.table.at(0, time));
  return known ? StackWeight{time, true} : StackWeight{first(ColumnKind::count), false};
}

std::string render_folded(const View& view, bool with_input) {
  const std::size_t column = stack_weight(view).column;
  std::string out;
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    if (with_input) append_text(out, frame(view.input) + ";");
    append_text(out, std::get<std::string_view>(view.table.at(row, 0)));
    out += ' ' + std::to_string(std::get<std::int64_t>(view.table.at(row, column))) + '\n';
  }
  return out;
}

}  // namespace fathom
