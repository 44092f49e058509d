// Lays out comparisons for a screen and for markdown.
#include "render/compare_text.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "render/charset.h"
#include "render/compare_rows.h"
#include "render/finding_text.h"
#include "render/ladder_text.h"
#include "render/markdown.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kEverything = SIZE_MAX;
constexpr std::size_t kChangeWidth = 15;
constexpr std::size_t kTimeWidth = 10;
/// The height of a terminal that nobody has enlarged.
constexpr std::ptrdiff_t kScreenLines = 24;
constexpr std::size_t kRowsOfMarkdown = 20;
/// In markdown kept for what follows the tables.
constexpr std::size_t kRestOfMarkdown = 50'000;
constexpr std::size_t kConditionsOfMarkdown = 200;
constexpr std::size_t kLongestCounters = 8'000;

/// How many of each are shown before "other …". What differs in the conditions is shown in any
/// case, for it may be why the times do.
struct Limits {
  std::size_t buckets = kEverything;
  std::size_t causes = kEverything;
  std::size_t counters = kEverything;
  bool phases = true;
};
/// The first with which all is on one screen; the last in any case.
constexpr Limits kOnAScreen[] = {{5, 5, 4}, {5, 4, 3},        {4, 4, 2},        {4, 3, 1},
                                 {3, 3, 1}, {3, 3, 1, false}, {3, 2, 1, false}, {2, 2, 1, false}};

std::string joined(const std::vector<std::string>& texts, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < std::min(texts.size(), limit); ++i)
    out += (i == 0 ? "" : "; ") + texts[i];
  if (texts.size() > limit) out += "; " + std::to_string(texts.size() - limit) + " more";
  return out;
}

/// A path in at most `width` columns: folders go first.
std::string file_in(const std::string& path, std::size_t width) {
  std::string_view rest = path;
  while (display_width(rest) + 2 > width && rest.find('/') + 1 < rest.size() &&
         rest.find('/') != std::string_view::npos)
    rest.remove_prefix(rest.find('/') + 1);
  if (rest.size() == path.size()) return shorten_middle(path, width);
  return shorten_middle("…/" + std::string(rest), width);
}

/// In at most `width` columns, where that is not 0.
std::string input_text(const ComparedSide& side, std::size_t width) {
  const std::string_view unit = side.times_only ? "run" : "step";
  std::string text =
      ": " + std::to_string(side.steps) + " " + std::string(unit) + (side.steps == 1 ? "" : "s");
  if (!side.step_name.empty()) text += " (" + side.step_name + ")";
  if (side.steps_left_out > 0) text += ", " + std::to_string(side.steps_left_out) + " left out";
  const std::string input = printable(side.input);
  const std::size_t taken = display_width(text);
  if (width < taken + 12 || display_width(input) + taken <= width) return input + text;
  return file_in(input, width - taken) + text;
}

/// The beginning of a text, at most `width` columns.
std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string front;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view next = rest.substr(0, decode_utf8(rest).bytes);
    if (display_width(front) + display_width(next) + 1 > width) break;
    front += next;
    rest.remove_prefix(next.size());
  }
  return front + "…";
}

/// Counts per step: what differs, and what is equal.
std::string counters_text(const Comparison& pair, std::size_t limit) {
  const std::vector<std::string> differ = counter_texts(pair);
  const std::vector<std::string> equal = equal_counters(pair);
  std::string text = joined(differ, limit);
  if (!equal.empty()) {
    std::string names;
    for (const std::string& title : equal) names += (names.empty() ? "" : ", ") + title;
    if (text.empty()) return "equal per step: " + names + ".";
    text += ". Equal: " + names;
  }
  return text.empty() ? text : "per step: " + text + ".";
}

/// What differs in the pair that is shown; then what does on other ranks alone, as on the first of
/// them.
std::vector<ComparedCondition> differing(const ComparedSides& sides) {
  std::vector<ComparedCondition> out = sides.pairs[sides.shown].differs;
  for (std::size_t i = 0; i < sides.pairs.size(); ++i) {
    const std::int64_t rank =
        sides.ranks[i] == kAbsent ? static_cast<std::int64_t>(i) + 1 : sides.ranks[i];
    add_of_rank(out, rank, sides.pairs[i].differs);
  }
  return out;
}

class TextWriter {
 public:
  TextWriter(const Style& style, bool all, const Limits& limits)
      : style_(style), all_(all), limits_(limits) {}

  std::string write(const Comparison& pair, const std::vector<ComparedCondition>& differs) {
    const std::size_t room = all_ || style_.width < kLabelWidth ? 0 : style_.width - kLabelWidth;
    add("Base", input_text(pair.base, room));
    add("New", input_text(pair.now, room));
    add(time_label(pair), step_text(pair));
    add("", same_text(pair));
    add("Steps", steadiness_text(pair, all_));
    add("Differs", differs_text(differs));
    table("Where the time of a mean step goes", bucket_lines(pair, limits_.buckets), true);
    if (!all_ && limits_.phases) add("By phase", phases_text(pair));
    table("Why: self time of operators and kernels, by cause of its change",
          cause_lines(pair, limits_.causes), false);
    if (all_) {
      table("Where: phase, module, operator, kernel", tree_lines(pair), true);
      if (pair.comparability != Comparability::different_devices)
        add("Matched", alignment_text(pair));
    } else {
      add("Matched", matched_text(pair));
    }
    add("Counts", counters_text(pair, limits_.counters));
    for (const std::string& note : pair.notes) add("Note", note);
    return std::move(text_);
  }

 private:
  void add(std::string_view label, const std::string& text) {
    if (!text.empty()) text_ += paragraph(label, text, style_);
  }

  void table(std::string_view heading, const std::vector<ChangeLine>& lines, bool times) {
    if (lines.empty()) return;
    const std::size_t tail = times ? 2 * kTimeWidth + 2 : 0;
    const std::size_t head = kChangeWidth + 2;
    const std::size_t room = style_.width > head + tail + 12 ? style_.width - head - tail : 12;
    std::string title = pad_left("change, ns", kChangeWidth) + "  " + shorten_middle(heading, room);
    if (times)
      title = pad_right(title, head + room) + pad_left("base", kTimeWidth + 1) +
              pad_left("new", kTimeWidth + 1);
    text_ += '\n' + style_.bold(title) + '\n';
    for (const ChangeLine& line : lines) {
      std::string what = printable(line.what);
      if (!style_.wide && !all_) what = cut(what, room);
      std::string text = pad_left(change_text(line.change_ns), kChangeWidth) + "  " + what;
      if (times && !line.base.empty()) {
        if (display_width(text) > head + room) {
          text += '\n';
          text += pad_right("", head + room);
        }
        text = (text.find('\n') == std::string::npos ? pad_right(text, head + room) : text) +
               pad_left(line.base, kTimeWidth + 1) + pad_left(line.now, kTimeWidth + 1);
      }
      text_ += text + '\n';
    }
  }

  const Style& style_;
  bool all_;
  Limits limits_;
  std::string text_;
};

std::string ranks_text(const ComparedSides& sides) {
  std::string text = std::to_string(sides.pairs.size()) +
                     " pairs of recordings; changes of the "
                     "step time by rank:";
  for (std::size_t i = 0; i < sides.pairs.size(); ++i) {
    text += (i == 0 ? " " : ", ") +
            (sides.ranks[i] == kAbsent ? std::to_string(i + 1) : std::to_string(sides.ranks[i])) +
            " " + signed_percent(100 * (sides.pairs[i].ratio - 1));
  }
  return text + ". The largest is shown.";
}

// Markdown.

std::string markdown_row(const ChangeLine& line, bool times) {
  std::string row = "| " + change_text(line.change_ns) + " | " + short_cell(line.what) + " |";
  if (times) row += " " + line.base + " | " + line.now + " |";
  return row + '\n';
}

/// As many of the lines as fit.
void add_table(std::string& text, std::string_view what, const std::vector<ChangeLine>& lines,
               bool times) {
  if (lines.empty()) return;
  text += "\n| change, ns | " + std::string(what) + (times ? " | base | new |" : " |") +
          "\n|---:|---|" + (times ? "---:|---:|" : "") + "\n";
  std::size_t left = lines.size();
  for (const ChangeLine& line : lines) {
    const std::string row = markdown_row(line, times);
    if (text.size() + row.size() + kRestOfMarkdown > kLargestMarkdown) break;
    text += row;
    --left;
  }
  if (left > 0) text += "\n" + std::to_string(left) + " more lines do not fit here.\n";
}

std::string conditions_list(const std::vector<ComparedCondition>& differ) {
  const std::vector<std::string> texts = condition_texts(differ);
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), kConditionsOfMarkdown); ++i)
    list += "- Differs: " + short_cell(texts[i]) + "\n";
  if (texts.size() > kConditionsOfMarkdown)
    list += "- " + std::to_string(texts.size() - kConditionsOfMarkdown) + " more differ.\n";
  return list;
}

std::string markdown_of(const Comparison& pair, const std::vector<ComparedCondition>& differ,
                        bool all) {
  std::string text =
      "**" + std::string(time_label(pair)) + "**: " + markdown_cell(step_text(pair)) + "\n";
  if (!same_text(pair).empty()) text += "\n" + same_text(pair) + "\n";
  text += "\n- Base: " + short_cell(input_text(pair.base, 0)) +
          "\n- New: " + short_cell(input_text(pair.now, 0)) + "\n";
  if (const std::string steps = steadiness_text(pair, all); !steps.empty())
    text += "- Steps: " + steps + "\n";
  if (const std::string matched = matched_text(pair); !matched.empty())
    text += "- Matched: " + matched + "\n";
  text += conditions_list(differ);
  add_table(text, "where the time of a mean step goes", bucket_lines(pair, kEverything), true);
  add_table(text, "why", cause_lines(pair, kEverything), false);
  add_table(text, "operators, their kernels, and idle time",
            all ? tree_lines(pair) : row_lines(pair, kRowsOfMarkdown), true);
  const std::string counters = counters_text(pair, kEverything);
  if (!counters.empty()) text += "\nCounts " + short_cell(counters, kLongestCounters) + "\n";
  for (const std::string& note : pair.notes) text += "\n" + short_cell(note) + "\n";
  return text;
}

std::string target_line(const ComparedSides& sides, const std::optional<Target>& target) {
  if (!target) return {};
  const Comparison& pair = sides.pairs[sides.shown];
  return target_text(*target, progress_of(*target, pair), pair.now.step_ns.median);
}

std::string text_of(const ComparedSides& sides, const std::optional<Target>& target, bool all,
                    const Limits& limits, const Style& style) {
  std::string text;
  if (sides.pairs.size() > 1) text += paragraph("Ranks", ranks_text(sides), style);
  for (std::size_t i = 0; i < sides.pairs.size(); ++i) {
    if (!all && i != sides.shown) continue;
    if (!text.empty() && all) text += '\n';
    text += TextWriter(style, all, limits)
                .write(sides.pairs[i], all ? sides.pairs[i].differs : differing(sides));
  }
  if (target) text += paragraph("Target", target_line(sides, target), style);
  for (const std::string& note : sides.notes) text += paragraph("Note", note, style);
  return text;
}

}  // namespace

std::string render_compare_text(const ComparedSides& sides, const std::optional<Target>& target,
                                bool all, const Style& style) {
  if (all) return in_charset(text_of(sides, target, true, {}, style), style);
  std::string text;
  for (const Limits& limits : kOnAScreen) {
    text = text_of(sides, target, false, limits, style);
    if (std::ranges::count(text, '\n') <= kScreenLines) break;
  }
  return in_charset(text, style);
}

std::string render_compare_markdown(const ComparedSides& sides, const std::optional<Target>& target,
                                    bool all) {
  std::string text = "## Comparison of two recordings\n\n";
  if (sides.pairs.size() > 1) text += short_cell(ranks_text(sides), kLongestCounters) + "\n\n";
  text += markdown_of(sides.pairs[sides.shown], differing(sides), all);
  if (target) text += "\n**Target**: " + markdown_cell(target_line(sides, target)) + "\n";
  for (const std::string& note : sides.notes) text += "\n" + short_cell(note) + "\n";
  return text;
}

}  // namespace fathom
