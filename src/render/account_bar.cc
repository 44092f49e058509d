// Draws the accounting as a bar of characters with its legend.
#include "render/account_bar.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "render/step_parts.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kWidest = 64;
/// Parts below this many percent are left out of the legend.
constexpr double kLeastPercent = 0.05;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

std::string painted(const StepPart& part, std::string_view text, const Style& style) {
  switch (part.hue) {
    case StepPart::Hue::good:
      return style.green(text);
    case StepPart::Hue::bad:
      return style.red(text);
    case StepPart::Hue::neutral:
      break;
  }
  return style.yellow(text);
}

/// Columns of the bar by largest remainder, so that they sum to the width.
std::vector<std::size_t> columns_of(const std::vector<StepPart>& parts, double whole,
                                    std::size_t width) {
  std::vector<std::size_t> columns;
  std::vector<std::pair<double, std::size_t>> rests;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = ns(parts[i].time) / whole * static_cast<double>(width);
    columns.push_back(static_cast<std::size_t>(exact));
    rests.emplace_back(exact - std::floor(exact), i);
    used += columns.back();
  }
  std::ranges::stable_sort(rests, std::ranges::greater(), &std::pair<double, std::size_t>::first);
  for (std::size_t i = 0; used < width && i < rests.size(); ++i, ++used) ++columns[rests[i].second];
  return columns;
}

/// Entries side by side as far as there is room.
std::string packed(const std::vector<std::string>& entries, std::size_t room,
                   const std::string& indent) {
  std::string out;
  std::size_t used = 0;
  for (const std::string& entry : entries) {
    const std::size_t width = display_width(entry);
    const bool fits = used != 0 && used + 2 + width <= room;
    if (!fits) out += (out.empty() ? "" : "\n") + indent;
    out += (fits ? "  " : "") + entry;
    used = fits ? used + 2 + width : width;
  }
  return out;
}

}  // namespace

std::string account_bar(const Diagnosis& diagnosis, std::size_t indent, const Style& style) {
  const std::vector<StepPart> parts = parts_of(diagnosis);
  double whole = 0;
  for (const StepPart& part : parts) whole += ns(part.time);
  if (parts.empty()) return {};
  const std::size_t room = style.width > indent + 8 ? style.width - indent : 8;
  const std::vector<std::size_t> columns = columns_of(parts, whole, std::min(room, kWidest));
  std::string line(indent, ' ');
  std::vector<std::string> legend;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (std::size_t c = 0; c < columns[i]; ++c) run += parts[i].glyph;
    line += painted(parts[i], run, style);
    const double percent = 100.0 * ns(parts[i].time) / whole;
    if (percent < kLeastPercent) continue;
    legend.push_back(std::string(parts[i].glyph) + " " + parts[i].name + " " +
                     percent_text(percent));
  }
  return line + "\n" + packed(legend, room, std::string(indent, ' ')) + "\n";
}

}  // namespace fathom
