// Writes a table as text: heading, rows, what was left out, notes.
#include "render/text.h"

#include "render/blocks.h"
#include "render/flat_table.h"
#include "render/text_width.h"
#include "render/units.h"

namespace fathom {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string footer(const std::string& text, const Style& style) {
  return style.dim(wrap(text, style.width, "")) + '\n';
}

/// Title and input on one line where they fit, else on two.
std::string heading(const View& view, const Style& style) {
  const std::string title(view.report->title);
  const std::string input = view.input == "-" ? "standard input" : printable(view.input);
  const bool free = style.wide || style.soft_width;
  const bool one_line = free || display_width(title) + 3 + display_width(input) <= style.width;
  const std::string shown = free ? input : shorten_middle(input, style.width);
  return style.bold(free ? title : shorten_middle(title, style.width)) + (one_line ? "   " : "\n") +
         style.dim(shown) + "\n\n";
}

std::string left_out(const FlatTable& table, const View& view, const Style& style) {
  std::string text;
  if (table.edges) {
    text += footer(
        "* edge step: not whole, and left out of statistics (fathom steps --help explains)", style);
  }
  if (!table.no_room.empty()) {
    text += footer("no room for: " + join(table.no_room) + " (--wide, --columns)", style);
  }
  if (!table.empty.empty()) text += footer("empty here: " + join(table.empty), style);
  const std::uint64_t shown = view.table.rows();
  if (shown < view.rows_total) {
    const auto more = static_cast<std::int64_t>(view.rows_total - shown);
    text += footer(
        count_text(more) + " more row" + (more == 1 ? "" : "s") + " (--limit 0 shows all)", style);
  }
  return text;
}

}  // namespace

std::string render_text(const View& view, const Style& style) {
  std::string out = heading(view, style);
  std::string below;
  if (view.table.empty()) {
    out += style.dim("no rows") + '\n';
  } else if (has_sections(view)) {
    out += render_blocks(view, style);
    below = left_out({}, view, style);
  } else {
    const FlatTable table = render_flat(view, style);
    out += table.text;
    below = left_out(table, view, style);
  }
  if (!below.empty() || !view.notes.empty()) out += '\n';
  out += below;
  for (const std::string& note : view.notes) out += wrap(printable(note), style.width, "  ") + '\n';
  return out;
}

}  // namespace fathom
