// Lays out sectioned rows: label, value, figures, and sentences as wrapped lines below.
#include "render/blocks.h"

#include <algorithm>
#include <optional>
#include <span>

#include "render/name_text.h"
#include "render/text_width.h"
#include "render/units.h"

namespace fathom {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kTextIndent = "      ";
constexpr std::size_t kGap = 2;
/// On a wide terminal, values must not stand out of sight of their labels.
constexpr std::size_t kWidestLabel = 60;
/// Sections of labels no longer than this share one width; a list of long names does not push the
/// values of all others to the right.
constexpr std::size_t kShortLabels = 36;
/// A sentence under a row takes at most this many lines; longer ones are shortened in the middle.
constexpr std::size_t kTextLines = 3;

/// Which column plays which part.
struct Parts {
  std::size_t label = 1;
  std::optional<std::size_t> value, unit, status, count, of;
  std::vector<std::size_t> figures;  ///< Other numbers, in order.
  std::vector<std::size_t> texts;    ///< Sentences below the row.
};

Parts parts_of(const View& view, const Style& style) {
  Parts parts;
  const auto has = [&view](std::string_view name) {
    return std::ranges::find(view.columns(), name, &ColumnSpec::name) != view.columns().end();
  };
  const bool counted = has("count") && has("of");
  for (std::size_t i = 2; i < view.columns().size(); ++i) {
    const ColumnSpec& column = view.columns()[i];
    if (column.wide && !style.wide && !view.columns_chosen) continue;
    if (column.name == "value") {
      parts.value = i;
    } else if (column.name == "unit") {
      parts.unit = i;
    } else if (column.name == "status") {
      parts.status = i;
    } else if (counted && column.name == "count") {
      parts.count = i;
    } else if (counted && column.name == "of") {
      parts.of = i;
    } else if (is_text(column.kind)) {
      parts.texts.push_back(i);
    } else {
      parts.figures.push_back(i);
    }
  }
  return parts;
}

bool is_text(const Value& value) { return std::holds_alternative<std::string_view>(value); }

/// A row of the table that is shown.
struct RowOf {
  const Table& table;
  std::size_t row = 0;
  [[nodiscard]] Value operator[](std::size_t column) const { return table.at(row, column); }
};

/// One row, formatted but not yet aligned.
struct Line {
  std::string section, label, status, counted;
  std::string value;
  bool value_is_text = false;
  std::vector<std::string> figures;
  std::vector<std::string> texts;
  bool folded = false;  ///< Named in one line with others instead of taking its own.
};

std::string text_of(const RowOf& row, std::size_t column) {
  const Value value = row[column];
  const auto* const text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string() : printable(*text);
}

/// "509 of 1,707", or "12", or "" for nothing.
std::string counted_text(const RowOf& row, const Parts& parts) {
  if (!parts.count || is_null(row[*parts.count])) return {};
  const std::string count = format_value(row[*parts.count], ColumnKind::count);
  if (is_null(row[*parts.of])) return count == "0" ? std::string() : count;
  return count + " of " + format_value(row[*parts.of], ColumnKind::count);
}

Line make_line(const View& view, const RowOf& row, const Parts& parts) {
  Line line;
  line.section = text_of(row, 0);
  line.label = format_value(row[parts.label], view.columns()[parts.label].kind);
  if (parts.status) line.status = text_of(row, *parts.status);
  line.counted = counted_text(row, parts);
  if (parts.value) {
    const Value value = row[*parts.value];
    line.value_is_text = is_text(value) || is_null(value);
    line.value = parts.unit ? format_value_in(value, text_of(row, *parts.unit))
                            : format_value(value, view.columns()[*parts.value].kind);
  }
  for (const std::size_t figure : parts.figures) {
    const bool empty = is_null(row[figure]);
    line.figures.push_back(empty ? std::string()
                                 : format_value(row[figure], view.columns()[figure].kind));
  }
  for (const std::size_t text : parts.texts) {
    if (is_null(row[text])) continue;
    const std::string sentence = format_value(row[text], view.columns()[text].kind);
    // What is plain from its wording needs no name in front.
    const bool plain =
        view.columns()[text].name == "note" || view.columns()[text].name == "finding";
    line.texts.push_back(plain ? sentence : heading_of(view.columns()[text]) + ": " + sentence);
  }
  return line;
}

/// Rows that say that there is nothing: checks that do not apply, times of zero. They are named in
/// one line per section instead.
bool says_nothing(const RowOf& row, const Line& line, const Parts& parts) {
  if (line.status == "not applicable") return true;
  if (!parts.unit || text_of(row, *parts.unit) != "ns" || !line.texts.empty()) return false;
  return row[*parts.value] == Value(std::int64_t{0});
}

struct Widths {
  std::size_t label = 0, status = 0, counted = 0, number = 0;
  std::vector<std::size_t> figures;
};

/// The longest label of some lines.
std::size_t label_width(std::span<const Line> lines) {
  std::size_t width = 0;
  for (const Line& line : lines) {
    if (!line.folded) width = std::max(width, display_width(line.label));
  }
  return width;
}

/// `whole`: labels are not to be shortened.
Widths measure(const std::vector<Line>& lines, bool whole, const Style& style) {
  Widths widths;
  const auto grow = [](std::size_t& width, const std::string& text) {
    width = std::max(width, display_width(text));
  };
  for (const Line& line : lines) {
    if (line.folded) continue;
    grow(widths.label, line.label);
    grow(widths.status, line.status);
    grow(widths.counted, line.counted);
    if (!line.value_is_text) grow(widths.number, line.value);
    widths.figures.resize(std::max(widths.figures.size(), line.figures.size()));
    for (std::size_t i = 0; i < line.figures.size(); ++i) grow(widths.figures[i], line.figures[i]);
  }
  if (style.wide || whole) return widths;
  // Labels take what the figures leave, but long ones must not push the values of all others to the
  // far right.
  std::size_t right = kIndent.size() + kGap;
  for (const std::size_t width : {widths.status, widths.counted, widths.number})
    right += width == 0 ? 0 : width + kGap;
  for (const std::size_t width : widths.figures) right += width == 0 ? 0 : width + kGap;
  const std::size_t room = style.width > right + 12 ? style.width - right : 12;
  widths.label =
      std::min({widths.label, room, kWidestLabel, std::max<std::size_t>(style.width / 2, 16)});
  return widths;
}

void append_field(std::string& out, const std::string& text, std::size_t width, bool left) {
  if (width == 0) return;
  out.append(kGap, ' ');
  out += left ? pad_right(text, width) : pad_left(text, width);
}

/// A short note stands beside its number rather than below.
bool fits_beside(const Line& line, const std::string& out, const Style& style) {
  return line.texts.size() == 1 && !line.value_is_text && !line.value.empty() &&
         display_width(out) + kGap + display_width(line.texts.front()) <= style.width;
}

std::string render_line(const Line& line, const Widths& widths, const Style& style) {
  std::string out(kIndent);
  out += pad_right(line.label, widths.label);
  if (widths.status != 0) {
    out.append(kGap, ' ');
    out += style.status(line.status, pad_right(line.status, widths.status));
  }
  append_field(out, line.counted, widths.counted, false);
  if (line.value_is_text && !line.value.empty()) {
    out.append(kGap, ' ');
    const std::size_t used = kIndent.size() + widths.label + kGap;
    const std::size_t room = style.width > used + 20 ? style.width - used : 20;
    const std::string shown = shorten_middle(line.value, room * kTextLines);
    out += style.wide ? line.value : wrap(shown, room, std::string(used, ' '));
  } else if (!line.value.empty()) {
    append_field(out, line.value, widths.number, false);
  }
  for (std::size_t i = 0; i < line.figures.size(); ++i) {
    const bool room = display_width(out) + kGap + widths.figures[i] <= style.width;
    if (!room && !style.wide && !style.soft_width) break;
    append_field(out, line.figures[i], widths.figures[i], false);
  }
  while (out.ends_with(' ')) out.pop_back();
  const bool beside = fits_beside(line, out, style);
  if (beside) out += std::string(kGap, ' ') + style.dim(line.texts.front());
  out += '\n';
  if (beside) return out;
  const std::size_t room = style.width - std::min(style.width, kTextIndent.size());
  for (const std::string& text : line.texts) {
    out += kTextIndent;
    out += style.dim(
        wrap(style.wide ? text : shorten_middle(text, room * kTextLines), room, kTextIndent));
    out += '\n';
  }
  return out;
}

/// "zero: memset exposed, memset total" for the rows of a section that are left out, or "".
std::string folded_line(std::span<const Line> section, const Style& style) {
  std::string names;
  bool checks = false;
  for (const Line& line : section) {
    if (!line.folded) continue;
    names += (names.empty() ? "" : ", ") + line.label;
    checks = checks || !line.status.empty();
  }
  if (names.empty()) return {};
  const std::string text = (checks ? "not applicable: " : "zero: ") + names;
  return std::string(kIndent) + style.dim(wrap(text, style.width - kIndent.size(), "    ")) + '\n';
}

/// Labels that are shown, so that they can be distinguished.
void shorten_labels(std::span<Line> section, std::size_t width) {
  std::vector<std::string> labels;
  for (const Line& line : section) {
    if (!line.folded) labels.push_back(line.label);
  }
  shorten_names(labels, width);
  auto label = labels.begin();
  for (Line& line : section) {
    if (!line.folded) line.label = std::move(*label++);
  }
}

/// Calls `act` with each run of lines of one section.
template <typename Act>
void for_each_section(std::vector<Line>& lines, const Act& act) {
  for (auto begin = lines.begin(); begin != lines.end();) {
    const auto end = std::find_if(begin, lines.end(),
                                  [&](const Line& line) { return line.section != begin->section; });
    act(std::span<Line>(begin, end));
    begin = end;
  }
}

}  // namespace

bool has_sections(const View& view) {
  return view.columns().size() >= 2 && view.columns().front().name == "section";
}

std::string render_blocks(const View& view, const Style& style) {
  const Parts parts = parts_of(view, style);
  const Table& table = !style.wide && !view.brief.empty() ? view.brief : view.table;
  std::vector<Line> lines;
  for (std::size_t at = 0; at < table.rows(); ++at) {
    const RowOf row{table, at};
    lines.push_back(make_line(view, row, parts));
    lines.back().folded = !style.wide && says_nothing(row, lines.back(), parts);
  }
  // Names may be shortened; what one types again (the ids of checks) may not.
  const bool whole = view.columns()[parts.label].kind != ColumnKind::name;
  const Widths widths = measure(lines, whole, style);
  std::size_t short_labels = 0;
  for_each_section(lines, [&](std::span<Line> section) {
    const std::size_t width = label_width(section);
    if (width <= kShortLabels) short_labels = std::max(short_labels, width);
  });
  std::string out;
  for_each_section(lines, [&](std::span<Line> section) {
    Widths own = widths;
    if (label_width(section) <= kShortLabels) own.label = std::min(own.label, short_labels);
    if (!style.wide) shorten_labels(section, own.label);
    out += (out.empty() ? "" : "\n") + style.bold(section.front().section) + '\n';
    for (const Line& line : section) {
      if (!line.folded) out += render_line(line, own, style);
    }
    out += folded_line(section, style);
  });
  return out;
}

}  // namespace fathom
