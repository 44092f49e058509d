// Writes a diagnosis as text, as long as the screen is high.
#include "render/diagnosis_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/quantity_text.h"
#include "render/account_bar.h"
#include "render/charset.h"
#include "render/finding_text.h"
#include "render/next_commands.h"
#include "render/ranks_text.h"
#include "render/run_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kBest = 3;
/// Where the height of the screen is not known.
constexpr std::size_t kUsualHeight = 40;
constexpr std::size_t kLowest = 20;

/// Columns of a name within a sentence.
constexpr std::size_t kLongestName = 60;

/// A mean that is further from the median than this part of it is printed beside it.
constexpr double kApart = 0.05;

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

std::string baseline(const Diagnosis& diagnosis, const Style& style) {
  const Summary& step = diagnosis.step_ns;
  std::string text;
  if (step.count == 0) {
    text = "no step to measure";
  } else if (diagnosis.step_name.empty()) {
    text = duration_text(from_ns(step.median)) + " in all, no steps were recorded";
  } else {
    text = duration_text(from_ns(step.median)) + " per step (" +
           shorten_middle(printable(diagnosis.step_name), kLongestName) + ", median of " +
           std::to_string(step.count);
    if (step.count > 1) {
      text += "; " + duration_text(from_ns(step.min)) + " to " + duration_text(from_ns(step.max));
    }
    const double mean = diagnosis.usual_ns.mean;
    if (std::abs(mean - step.median) > kApart * step.median) {
      text += "; savings are of the mean, " + duration_text(from_ns(mean));
    }
    text += diagnosis.steps_left_out != 0
                ? "; " + std::to_string(diagnosis.steps_left_out) + " left out)"
                : ")";
  }
  const std::string timed = diagnosis.run ? timed_steps(*diagnosis.run) : "";
  if (!timed.empty() && step.count > 0) text = timed + "; those: " + text;
  if (diagnosis.device >= 0) {
    text += "; device " + std::to_string(diagnosis.device);
    if (!diagnosis.device_name.empty()) {
      text += ", " + shorten_middle(printable(diagnosis.device_name), kLongestName);
    }
    if (diagnosis.devices > 1) text += ", the idlest of " + std::to_string(diagnosis.devices);
  }
  return paragraph("Baseline", text, style);
}

std::string check_text(const HealthCheck& check) {
  return std::string(to_string(check.status)) + ": " + check.sentence();
}

/// The worst check, and how many more there are; every one where all is shown.
std::string capture(const Diagnosis& diagnosis, bool all, const Style& style) {
  std::vector<const HealthCheck*> checks;
  for (const HealthCheck& check : diagnosis.health.checks) {
    if (check.status >= CheckStatus::warning) checks.push_back(&check);
  }
  if (checks.empty()) return paragraph("Capture", diagnosis.health.summary(), style);
  std::ranges::stable_sort(checks, std::ranges::greater(), &HealthCheck::status);
  if (!all) {
    std::string text = check_text(*checks.front());
    if (checks.size() > 1) {
      text += "; " + std::to_string(checks.size() - 1) + " more, see fathom health";
    }
    return paragraph("Capture", text, style);
  }
  std::string out;
  for (const HealthCheck* const check : checks) {
    out += paragraph(out.empty() ? "Capture" : "", check_text(*check), style);
  }
  return out;
}

std::string verdict(const Diagnosis& diagnosis, const Style& style) {
  const Verdict& verdict = diagnosis.verdict;
  // The sentence of this one says it already.
  const std::string name =
      verdict.id == VerdictId::cannot_tell ? "" : std::string(to_string(verdict.id)) + ". ";
  return paragraph("Verdict", name + verdict.sentence, style) +
         account_bar(diagnosis, kLabelWidth, style);
}

/// The best by gain per effort, where that is another order than that of gain.
std::string quick_wins_line(const Diagnosis& diagnosis, const Style& style) {
  const std::vector<std::size_t> order = quick_wins(diagnosis);
  if (order.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kBest); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(order[i] + 1) + " (" +
            std::string(to_string(diagnosis.findings[order[i]].finding.effort)) + ")";
  }
  return paragraph("Quick wins", text, style);
}

/// What one screen shows; the less, the shorter.
struct Layout {
  std::vector<Detail> details;
  bool titles = true;
  [[nodiscard]] bool spacious() const {
    return !details.empty() && details.back() > Detail::change;
  }
};

std::string rest_of_findings(const Diagnosis& diagnosis, const Layout& layout, const Style& style) {
  const std::size_t shown = layout.details.size();
  const std::size_t count = diagnosis.findings.size();
  if (count <= shown) return {};
  if (!layout.titles) return "   and " + std::to_string(count - shown) + " more\n";
  std::string text;
  for (std::size_t i = shown; i < count; ++i) {
    const std::string& title = diagnosis.findings[i].finding.title;
    text += shorten_middle(std::to_string(i + 1) + ". " + printable(title), style.width) + "\n";
  }
  return text;
}

std::string rules_text(const Diagnosis& diagnosis, const Style& style) {
  std::string abstained;
  std::string silent;
  for (const RuleResult& result : diagnosis.rules) {
    const std::string rule(result.rule);
    if (result.kind == RuleResult::Kind::abstained) {
      abstained += wrap(rule + ": " + printable(result.reason), style.width - 2, "  ") + "\n";
    } else if (result.kind == RuleResult::Kind::silent) {
      silent += (silent.empty() ? "" : ", ") + rule;
    }
  }
  if (!abstained.empty())
    abstained = "\n" + style.bold("Rules that abstained for lack of data") + "\n" + abstained;
  if (!silent.empty()) {
    silent =
        "\n" + style.bold("Rules that found nothing") + "\n" + wrap(silent, style.width, "") + "\n";
  }
  return abstained + silent;
}

/// Processes on the short screen of a program that nothing else is known of.
constexpr std::size_t kProcesses = 8;

/// What was recorded of a program that torch.profiler did not record.
std::string plain_run(const Diagnosis& diagnosis, bool all, const Style& style) {
  if (!diagnosis.run || !diagnosis.run->plain) return {};
  const std::size_t most = all ? diagnosis.run->processes.size() : kProcesses;
  return inside_lines(*diagnosis.run, style) + "\n" + process_lines(*diagnosis.run, most, style);
}

/// The whole of it, where all is shown.
std::string rest_of_run(const Diagnosis& diagnosis, const Style& style) {
  if (!diagnosis.run) return {};
  const RunSummary& run = *diagnosis.run;
  std::string out;
  if (!run.plain && !run.processes.empty())
    out += "\n" + process_lines(run, run.processes.size(), style);
  if (!run.not_recorded.empty()) out += "\n" + not_recorded_lines(run, style);
  return out;
}

std::string screen(const Diagnosis& diagnosis, const DiagnosisRequest& request, bool all,
                   const Layout& layout, const Style& style) {
  const std::string input = diagnosis.input == "-" ? "standard input" : printable(diagnosis.input);
  const bool airy = layout.details.empty() || layout.spacious();
  const std::size_t room = style.width > 2 * kLabelWidth ? style.width - kLabelWidth : kLabelWidth;
  const bool whole = style.soft_width || style.wide;
  std::string out = style.bold(pad_right("Diagnosis", kLabelWidth)) +
                    style.dim(whole ? input : shorten_middle(input, room)) + "\n";
  const bool plain = diagnosis.run && diagnosis.run->plain;
  if (diagnosis.ranks) out += ranks_lines(*diagnosis.ranks, all, style);
  out += capture(diagnosis, all, style);
  if (!plain || !diagnosis.step_name.empty()) out += baseline(diagnosis, style);
  if (diagnosis.run) out += run_lines(*diagnosis.run, style);
  out += verdict(diagnosis, style) + plain_run(diagnosis, all, style) + "\n";
  for (std::size_t i = 0; i < layout.details.size(); ++i) {
    out += finding_text(i + 1, diagnosis.findings[i], diagnosis.input, layout.details[i], style);
    if (airy) out += "\n";
  }
  if (!all) {
    const std::string rest = rest_of_findings(diagnosis, layout, style);
    out += rest + (airy && rest.empty() ? "" : "\n");
  }
  if (diagnosis.findings.empty() && !plain) out += "No rule found anything to change.\n\n";
  for (const std::string& note : diagnosis.notes) out += paragraph("Note", note, style);
  if (all && !diagnosis.step_note.empty()) out += paragraph("Steps", diagnosis.step_note, style);
  if (all) {
    out += paragraph("Replay",
                     percent_text(diagnosis.residuals.percent()) +
                         " of the window are delays that no dependency explains.",
                     style);
  }
  out += quick_wins_line(diagnosis, style);
  out += next_commands(diagnosis, request, {.all = all, .brief = !airy}, style);
  return all ? out + rest_of_run(diagnosis, style) + rules_text(diagnosis, style) : out;
}

/// Takes detail from the last of the most detailed findings, at the end the last finding; false
/// when one with its title and saving is left.
bool shrink(Layout& layout) {
  const auto most = std::ranges::max_element(layout.details.rbegin(), layout.details.rend());
  if (layout.titles && (most == layout.details.rend() || *most <= Detail::evidence)) {
    layout.titles = false;
    return true;
  }
  if (most == layout.details.rend()) return false;
  if (*most == Detail::saving) {
    if (layout.details.size() == 1) return false;
    layout.details.pop_back();
    return true;
  }
  *most = static_cast<Detail>(static_cast<int>(*most) - 1);
  return true;
}

/// One line stays free for the prompt. Lines wider than the terminal take several.
bool fits(std::string_view text, const Style& style) {
  const std::size_t height =
      style.height == 0 ? kUsualHeight : std::max<std::size_t>(style.height, kLowest);
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines += 1 + (std::max<std::size_t>(display_width(text.substr(0, end)), 1) - 1) / style.width;
    text.remove_prefix(end + 1);
  }
  return lines < height;
}

}  // namespace

std::string render_diagnosis_text(const Diagnosis& diagnosis, const DiagnosisRequest& request,
                                  bool all, const Style& style) {
  Layout layout;
  const std::size_t shown =
      all ? diagnosis.findings.size() : std::min(kBest, diagnosis.findings.size());
  layout.details.assign(shown, Detail::full);
  std::string text = screen(diagnosis, request, all, layout, style);
  Style plain = style;
  plain.colour = false;  // Codes of colours take no room.
  while (!all && !fits(screen(diagnosis, request, all, layout, plain), style) && shrink(layout)) {
    text = screen(diagnosis, request, all, layout, style);
  }
  return in_charset(text, style);
}

}  // namespace fathom
