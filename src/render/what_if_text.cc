// Writes a what-if as text.
#include "render/what_if_text.h"

#include <algorithm>
#include <vector>

#include "base/quantity_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kIndent = 14;

double percent_of(Duration part, Duration whole) {
  return whole == Duration{}
             ? 0
             : 100.0 * static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole));
}

/// A label, and a paragraph beside it.
std::string paragraph(std::string_view label, const std::string& text, const Style& style) {
  const std::size_t room = style.width > 2 * kIndent ? style.width - kIndent : kIndent;
  return style.bold(pad_right(label, kIndent)) +
         wrap(printable(text), room, std::string(kIndent, ' ')) + "\n";
}

/// "88.1 ms (−7.9 %)".
std::string change(Duration before, Duration after) {
  if (after == before) return duration_text(after) + " (no change)";
  const double percent = percent_of(after - before, before);
  const std::string sign = percent > 0 ? "+" : "−";
  return duration_text(after) + " (" + sign + percent_text(percent < 0 ? -percent : percent) + ")";
}

std::string step_line(const WhatIf& result) {
  std::string text = duration_text(result.before.median) + " → " +
                     change(result.before.median, result.best.median);
  if (result.worst.median != result.best.median)
    text += " at best, " + change(result.before.median, result.worst.median) + " at worst";
  if (result.step_name.empty()) return text + "; no steps were recorded";
  return text + "; " + result.step_name + ", median of " + std::to_string(result.steps);
}

/// "device 91.6 %, host 3 %": the parts of the critical path, the largest first.
std::string path_text(const StepForecast& forecast) {
  std::vector<std::size_t> order;
  Duration whole{};
  for (std::size_t i = 0; i < kPathParts; ++i) {
    whole += forecast.path[i];
    if (forecast.path[i] > Duration{}) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return forecast.path[i]; });
  std::string text;
  for (const std::size_t i : order) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<PathPart>(i))) + " " +
            percent_text(percent_of(forecast.path[i], whole));
  }
  return text.empty() ? std::string(kNoValue) : text;
}

}  // namespace

std::string render_what_if_text(const WhatIf& result, const Style& style) {
  std::string text = style.dim(printable(result.input)) + "\n";
  text += paragraph("Step time", step_line(result), style);
  text += paragraph("Bound by", path_text(result.before) + " of the critical path", style);
  text += paragraph("Then by", path_text(result.best), style);
  for (const WhatIfChange& made : result.changes) {
    text += paragraph("Change",
                      made.what + ": " + count_text(static_cast<std::int64_t>(made.slices)) +
                          " calls and activities; " + made.assumption + ".",
                      style);
  }
  text += paragraph("Unexplained",
                    percent_text(result.residuals.percent()) +
                        " of the step: delays that no dependency explains; they stay.",
                    style);
  if (!result.step_note.empty()) text += paragraph("Note", result.step_note, style);
  for (const std::string& note : result.notes) text += paragraph("Note", note, style);
  return text;
}

}  // namespace fathom
