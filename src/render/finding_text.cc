// Writes a finding as text, in as much detail as there is room for.
#include "render/finding_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity_text.h"
#include "base/text_fields.h"
#include "render/shell.h"
#include "render/text_width.h"

namespace fathom {
namespace {

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

std::size_t room_of(const Style& style) {
  return style.width > 2 * kLabelWidth ? style.width - kLabelWidth : kLabelWidth;
}

std::string inner_label(std::string_view name, const Style& style) {
  return style.dim(pad_right("   " + std::string(name), kLabelWidth));
}

/// A part of a finding; nothing where there is nothing to say.
std::string part(std::string_view name, std::string_view text, const Style& style) {
  if (text.empty()) return {};
  return inner_label(name, style) +
         wrap(printable(text), room_of(style), std::string(kLabelWidth, ' ')) + "\n";
}

/// Cut at the last blank before the width.
std::string one_line(const std::string& text, const Style& style) {
  const std::size_t width = room_of(style);
  if (display_width(text) <= width) return text;
  const std::string_view dots = style.ascii ? " ..." : " …";
  const std::string lines = wrap(text, width - display_width(dots), "");
  return lines.substr(0, lines.find('\n')) + std::string(dots);
}

/// Code keeps its lines; a long one is not broken, so that it can be copied.
std::string code_lines(std::string_view name, std::string_view code, const Style& style) {
  std::string out;
  while (!code.empty()) {
    out += (out.empty() ? inner_label(name, style) : std::string(kLabelWidth, ' ')) +
           printable(take_line(code)) + "\n";
  }
  return out;
}

/// Without its unit: both ends of an interval are percentages.
std::string without_unit(std::string percent) {
  percent.resize(percent.size() - 2);
  return percent;
}

/// Rules about all of a program's time, by samples: how much of it can go is not known.
constexpr std::array<std::string_view, 6> kBySamples = {"blocked-event-loop", "cpu-bound",
                                                        "gil-contention",     "lock-contention",
                                                        "too-few-cores",      "waiting"};

/// The least part of its time that an alternative must have to itself for its saving to be named:
/// with less, findings about the time of others are joined (engine/diagnosis/cards.cc).
constexpr double kOnTop = 0.2;

/// The more detail, the more of a long title: one line, three, all of it.
std::string title_text(const std::string& title, Detail detail, const Style& style) {
  if (detail == Detail::saving) return title_line(title, style.width);
  const std::string_view mark = "   ";
  const std::size_t width = style.width - mark.size();
  if (detail > Detail::change) return wrap(title, width, mark);
  constexpr std::size_t kRagged = 20;  // Lines end where words do.
  return wrap(shorten_middle(title, 3 * width - kRagged), width, mark);
}

std::string evidence_text(const Evidence& evidence) {
  return evidence.location.empty() ? evidence.text : evidence.text + " — " + evidence.location;
}

/// Another finding of the same cause: what it says, and what it saves on top; in full, what to
/// change, and why.
std::string alternative_text(const RankedFinding& other, Detail detail, const Style& style) {
  std::string text = other.finding.title;
  const std::string saving = on_top_text(other, style.ascii);
  if (!saving.empty()) text += "; " + saving;
  text += " (" + std::string(other.finding.rule) + ")";
  if (detail == Detail::full) {
    text += ". " + other.finding.fix.text;
    std::string_view before = " Evidence: ";
    for (const Evidence& evidence : other.finding.evidence) {
      text.append(before).append(evidence_text(evidence));
      before = "; ";
    }
  }
  return part("also", text, style);
}

}  // namespace

std::string saving_text(const RankedFinding& ranked, bool ascii) {
  const auto mean = static_cast<double>(to_ns(ranked.step));
  const auto percent = [mean](Duration time) {
    return percent_text(100.0 * static_cast<double>(to_ns(time)) / mean);
  };
  const std::string of_step = " of " + duration_text(from_ns(mean)) + " (";
  const bool hides = hides_behind_others(ranked);
  if (ranked.gain && to_ns(ranked.gain->likely) > 0) {
    std::string text = "saves " + duration_text(ranked.gain->likely) + of_step +
                       percent(ranked.gain->likely) + "; " +
                       without_unit(percent(ranked.gain->low)) + (ascii ? "-" : "–") +
                       percent(ranked.gain->high) + ")";
    if (hides)
      text += ", " + percent(*ranked.after_others) + " once the other findings are changed";
    return text;
  }
  if (hides) {
    return "saves nothing by itself, " + duration_text(*ranked.after_others) + of_step +
           percent(*ranked.after_others) + ") once the other findings are changed";
  }
  if (saves_time(ranked)) {
    return "saves at most " + duration_text(ranked.upper_bound) + of_step +
           percent(ranked.upper_bound) + ")";
  }
  const bool sampled = std::ranges::find(kBySamples, ranked.finding.rule) != kBySamples.end();
  return sampled ? "no number: it depends on the change" : "saves no time by itself";
}

std::string on_top_text(const RankedFinding& other, bool ascii) {
  const auto part = static_cast<double>(to_ns(other.upper_bound));
  if (part < kOnTop * static_cast<double>(to_ns(other.observed))) return "recovers the same time";
  return saves_time(other) ? saving_text(other, ascii) + " on top" : "";
}

std::string paragraph(std::string_view label, std::string_view text, const Style& style) {
  return style.bold(pad_right(label, kLabelWidth)) +
         wrap(printable(text), room_of(style), std::string(kLabelWidth, ' ')) + "\n";
}

std::string verdict_text(const Verdict& verdict) {
  const std::string names = verdict_names(verdict);
  // Where only the roofs are not known, the sentence tells.
  return verdict.points_decide ? names + ": 5 points of the step decide" : names;
}

std::string together_text(const Together& together) {
  const std::vector<std::uint32_t>& numbers = together.numbers;
  const bool row = numbers.back() - numbers.front() + 1 == numbers.size() && numbers.size() > 2;
  const std::string which =
      std::to_string(numbers.front()) + (row ? "–" : " and ") + std::to_string(numbers.back());
  const double less = 100.0 * static_cast<double>(to_ns(together.gain.likely)) /
                      static_cast<double>(to_ns(together.step));
  return "apply " + which + ": " + duration_text(together.step) + " → " +
         duration_text(together.step - together.gain.likely) + " (" + percent_text(less) + " less)";
}

std::string title_line(std::string_view title, std::size_t width) {
  // What is added behind the sentence tells the least.
  if (display_width(title) > width) title = title.substr(0, title.rfind("; for "));
  return shorten_middle(title, width);
}

std::string headline(const RankedFinding& ranked) {
  const std::string mark = ranked.number == 0 ? "•  " : std::to_string(ranked.number) + ". ";
  return mark + printable(ranked.finding.title);
}

std::string finding_text(const RankedFinding& ranked, std::string_view input, Detail detail,
                         const Style& style) {
  const Finding& finding = ranked.finding;
  std::string text = style.bold(title_text(headline(ranked), detail, style));
  text += "\n" + part("predicted",
                      saving_text(ranked, style.ascii) +
                          "; effort: " + std::string(to_string(finding.effort)),
                      style);
  const std::size_t shown = detail == Detail::full    ? finding.evidence.size()
                            : detail > Detail::change ? 1
                                                      : 0;
  for (std::size_t i = 0; i < std::min(shown, finding.evidence.size()); ++i) {
    text += part("evidence", evidence_text(finding.evidence[i]), style);
  }
  if (detail == Detail::full) text += part("against", finding.counter_evidence, style);
  if (detail == Detail::change) {
    text += part("change", one_line(printable(finding.fix.text), style), style);
  } else if (detail > Detail::change) {
    text += part("change", finding.fix.text, style);
    for (const RankedFinding& other : ranked.alternatives)
      text += alternative_text(other, detail, style);
  }
  if (detail < Detail::code) return text;
  text += code_lines("before", finding.fix.before, style);
  text += code_lines("after", finding.fix.after, style);
  if (detail < Detail::full) return text;
  text += part("assumed", finding.assumption, style);
  text += code_lines("check", command_on(finding.verify, input), style);
  text += part("confidence", to_string(finding.confidence), style);
  return text;
}

}  // namespace fathom
