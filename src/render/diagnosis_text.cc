#include "render/diagnosis_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/quantity_text.h"
#include "render/step_parts.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kIndent = 14;
constexpr std::string_view kHanging = "              ";

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

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
std::vector<std::size_t> columns_of(const std::vector<StepPart>& parts, std::size_t width) {
  Duration whole{};
  for (const StepPart& part : parts) whole += part.time;
  std::vector<std::size_t> columns;
  std::vector<std::pair<double, std::size_t>> rests;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = static_cast<double>(to_ns(parts[i].time)) /
                         static_cast<double>(to_ns(whole)) * static_cast<double>(width);
    columns.push_back(static_cast<std::size_t>(exact));
    rests.emplace_back(exact - std::floor(exact), i);
    used += columns.back();
  }
  std::ranges::stable_sort(rests, std::ranges::greater(), &std::pair<double, std::size_t>::first);
  for (std::size_t i = 0; used < width && i < rests.size(); ++i, ++used) ++columns[rests[i].second];
  return columns;
}

/// A paragraph that goes on below where it begins, after a label.
std::string hanging(const std::string& text, const Style& style) {
  const std::size_t room = style.width > 2 * kIndent ? style.width - kIndent : kIndent;
  return wrap(printable(text), room, kHanging);
}

/// "█ compute 55.5 %", with hard blanks, so that it is not broken.
std::string legend_entry(const StepPart& part, double percent) {
  const std::string text =
      std::string(part.glyph) + " " + std::string(part.name) + " " + percent_text(percent);
  std::string entry;
  for (const char c : text) entry += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return entry;
}

std::string bar(const Diagnosis& diagnosis, const Style& style) {
  const std::vector<StepPart> parts = parts_of(diagnosis);
  if (parts.empty()) return {};
  Duration whole{};
  for (const StepPart& part : parts) whole += part.time;
  const std::size_t width = std::clamp<std::size_t>(style.width - kIndent - 1, 20, 64);
  const std::vector<std::size_t> columns = columns_of(parts, width);
  std::string line(kHanging);
  std::string legend;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (std::size_t c = 0; c < columns[i]; ++c) run += parts[i].glyph;
    line += painted(parts[i], run, style);
    const double percent =
        100.0 * static_cast<double>(to_ns(parts[i].time)) / static_cast<double>(to_ns(whole));
    legend += (legend.empty() ? "" : "  ") + legend_entry(parts[i], percent);
  }
  return line + "\n" + std::string(kHanging) + hanging(legend, style) + "\n";
}

std::string label(std::string_view text, const Style& style) {
  return style.bold(pad_right(text, kIndent));
}

std::string baseline(const Diagnosis& diagnosis, const Style& style) {
  const Summary& step = diagnosis.step_ns;
  std::string text;
  if (step.count == 0) {
    text = "no step to measure";
  } else if (diagnosis.step_name.empty()) {
    text = duration_text(from_ns(step.median)) + " in all: no steps were recorded";
  } else {
    text = duration_text(from_ns(step.median)) + " per step (" + diagnosis.step_name +
           ", median of " + std::to_string(step.count);
    if (step.count > 1) {
      text += "; " + duration_text(from_ns(step.min)) + " to " + duration_text(from_ns(step.max));
    }
    text += diagnosis.steps_left_out != 0
                ? "; " + std::to_string(diagnosis.steps_left_out) + " left out)"
                : ")";
  }
  if (diagnosis.device >= 0) {
    text += " on device " + std::to_string(diagnosis.device);
    if (!diagnosis.device_name.empty()) text += ", " + diagnosis.device_name;
    if (diagnosis.devices > 1) {
      text += ", the idlest of " + std::to_string(diagnosis.devices);
    }
  }
  return label("Baseline", style) + hanging(text, style) + "\n";
}

std::string gain_text(const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const double mean = diagnosis.step_ns.mean;
  const auto percent = [mean](Duration time) {
    return percent_text(100.0 * static_cast<double>(to_ns(time)) / mean);
  };
  if (ranked.gain && to_ns(ranked.gain->likely) > 0) {
    const double after = mean - static_cast<double>(to_ns(ranked.gain->likely));
    return "−" + percent(ranked.gain->likely) + " likely (" + percent(ranked.gain->low) + " to " +
           percent(ranked.gain->high) + "): " + duration_text(from_ns(mean)) + " → " +
           duration_text(from_ns(after));
  }
  if (to_ns(ranked.upper_bound) > 0) return "at most −" + percent(ranked.upper_bound);
  return "no time of its own";
}

std::string line_of(std::string_view name, const std::string& text, const Style& style) {
  if (text.empty()) return {};
  return style.dim(pad_right("   " + std::string(name), kIndent)) + hanging(text, style) + "\n";
}

std::string finding_text(std::size_t number, const RankedFinding& ranked,
                         const Diagnosis& diagnosis, const Style& style) {
  const Finding& finding = ranked.finding;
  const std::string head = std::to_string(number) + ". " + printable(finding.title);
  std::string text = style.bold(wrap(head, style.width, "")) + "\n";
  text += line_of("gain", gain_text(ranked, diagnosis), style);
  for (const Evidence& evidence : finding.evidence) {
    const std::string place = evidence.location.empty() ? "" : " — " + evidence.location;
    text += line_of("evidence", evidence.text + place, style);
  }
  text += line_of("but", finding.counter_evidence, style);
  text += line_of("change", finding.fix.text, style);
  if (!finding.fix.before.empty()) text += line_of("before", finding.fix.before, style);
  if (!finding.fix.after.empty()) text += line_of("after", finding.fix.after, style);
  text += line_of("assumed", finding.assumption, style);
  text += line_of("check", finding.verify, style);
  return text;
}

std::string more_findings(const Diagnosis& diagnosis, std::size_t shown, const Style& style) {
  std::string text;
  for (std::size_t i = shown; i < diagnosis.findings.size(); ++i) {
    const RankedFinding& ranked = diagnosis.findings[i];
    const std::string head = std::to_string(i + 1) + ". " + printable(ranked.finding.title);
    text += (style.wide ? head : shorten_middle(head, style.width)) + "\n";
  }
  return text;
}

std::string capture_text(const Diagnosis& diagnosis, const Style& style) {
  std::string text;
  for (const HealthCheck& check : diagnosis.health.checks) {
    if (check.status < CheckStatus::warning) continue;
    const std::string word(to_string(check.status));
    text += label(text.empty() ? "Capture" : "", style) +
            hanging(word + ": " + check.sentence(), style) + "\n";
  }
  return text.empty() ? label("Capture", style) + diagnosis.health.summary() + "\n" : text;
}

std::string rules_text(const Diagnosis& diagnosis, const Style& style) {
  std::string text = "\n" + style.bold("Rules that cannot tell") + "\n";
  std::string silent;
  for (const RuleResult& result : diagnosis.rules) {
    if (result.kind == RuleResult::Kind::abstained) {
      text += wrap(std::string(result.rule) + ": " + printable(result.reason), style.width, "  ") +
              "\n";
    } else if (result.kind == RuleResult::Kind::silent) {
      silent += (silent.empty() ? "" : ", ") + std::string(result.rule);
    }
  }
  if (!silent.empty()) {
    text += style.bold("Looked and found nothing") + "\n" + wrap(silent, style.width, "  ") + "\n";
  }
  return text;
}

std::string next_steps(const Diagnosis& diagnosis, const DiagnosisView& view, const Style& style) {
  const std::string input = diagnosis.input == "-" ? "TRACE" : printable(diagnosis.input);
  std::vector<std::string> lines;
  if (diagnosis.findings.size() > view.findings) {
    lines.push_back("fathom diagnose --all " + input);
  }
  if (!diagnosis.findings.empty()) {
    lines.push_back("fathom explain " + std::string(diagnosis.findings.front().finding.rule));
  }
  lines.push_back((diagnosis.device >= 0 ? "fathom gaps " : "fathom ops ") + input);
  lines.push_back("fathom accounting --group-by phase " + input);
  std::string text;
  for (const std::string& line : lines) {
    text += label(text.empty() ? "Next" : "", style) + style.cyan(line) + "\n";
  }
  return text;
}

}  // namespace

std::string render_diagnosis_text(const Diagnosis& diagnosis, const DiagnosisView& view,
                                  const Style& style) {
  const std::string input = diagnosis.input == "-" ? "standard input" : printable(diagnosis.input);
  std::string out = style.bold("Diagnosis") + "   " + style.dim(input) + "\n\n";
  out += capture_text(diagnosis, style);
  out += baseline(diagnosis, style);
  out += label("Verdict", style) +
         hanging(std::string(to_string(diagnosis.verdict.id)) + ". " + diagnosis.verdict.sentence,
                 style) +
         "\n";
  out += bar(diagnosis, style) + "\n";
  const std::size_t shown = std::min(view.findings, diagnosis.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    out += finding_text(i + 1, diagnosis.findings[i], diagnosis, style) + "\n";
  }
  const std::string more = more_findings(diagnosis, shown, style);
  if (!more.empty()) out += more + "\n";
  if (diagnosis.findings.empty()) out += "No rule found anything to change.\n\n";
  for (const std::string& note : diagnosis.notes) {
    out += wrap(printable(note), style.width, "  ") + "\n";
  }
  out += next_steps(diagnosis, view, style);
  if (view.rules) out += rules_text(diagnosis, style);
  return out;
}

}  // namespace fathom
