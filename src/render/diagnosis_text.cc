// Writes a diagnosis as text, as long as the screen is high.
#include "render/diagnosis_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/text_fields.h"
#include "render/account_bar.h"
#include "render/charset.h"
#include "render/finding_text.h"
#include "render/next_commands.h"
#include "render/percentile_text.h"
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

/// Columns of an operator's name among others.
constexpr std::size_t kLongestOperator = 40;
constexpr std::size_t kShortOperator = 16;

/// A mean that is further from the median than this part of it is printed beside it.
constexpr double kApart = 0.05;

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

/// "5 samples" where it is whole, else "5.3 samples".
std::string amount_text(double amount) {
  return amount == std::floor(amount) ? count_text(static_cast<std::int64_t>(amount))
                                      : real_text(amount);
}

/// What a step works on, and how fast; memory, and drift where it matters.
std::string work_text(const Diagnosis& diagnosis, bool compact) {
  const Baseline& baseline = diagnosis.baseline;
  const double seconds = diagnosis.step_ns.mean / 1e9;
  std::string text;
  const auto add = [&](const std::optional<double>& amount, const std::string& what) {
    if (!amount || seconds <= 0) return;
    text += "; " + real_text(*amount / seconds) + " " + what + "/s (" + amount_text(*amount) +
            " a step)";
  };
  if (baseline.batch) {
    add(baseline.batch->samples, "samples");
    add(baseline.batch->tokens, "tokens");
  }
  if (!baseline.utilisation.empty()) {
    text += "; device busy " + percent_text(*baseline.busy_percent);
    if (!compact) text += " of the time (any kernel or copy running)";
  }
  if (compact) return text;
  if (baseline.mfu_percent) text += "; MFU " + percent_text(*baseline.mfu_percent);
  if (baseline.drift_percent && std::abs(*baseline.drift_percent) >= 100 * kApart) {
    text += "; the last third of the steps takes " +
            percent_text(std::abs(*baseline.drift_percent)) +
            (*baseline.drift_percent > 0 ? " longer" : " less") + " than the first";
  }
  if (baseline.peak_allocated) {
    text += "; peak memory " + bytes_text(*baseline.peak_allocated);
    if (baseline.memory_bytes) text += " of " + bytes_text(*baseline.memory_bytes);
  }
  return text;
}

std::string baseline(const Diagnosis& diagnosis, bool compact, const Style& style) {
  const Summary& step = diagnosis.step_ns;
  if (compact && step.count > 1) {
    const std::string median = duration_text(from_ns(step.median));
    const std::string timed = diagnosis.run ? timed_briefly(*diagnosis.run) : "";
    const std::string steps =
        timed.empty() ? median + " per step (mean " + duration_text(from_ns(step.mean)) +
                            ", standard deviation " + duration_text(from_ns(step.stddev)) + ", " +
                            percentile_text(0.95, step.p95, step.count) + ")"
                      : timed + "); of " + std::to_string(step.count) + " recorded " + median;
    return paragraph("Baseline", steps + work_text(diagnosis, true), style);
  }
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
      text += "; mean " + duration_text(from_ns(step.mean)) + ", standard deviation " +
              duration_text(from_ns(step.stddev)) + ", " +
              percentile_text(0.95, step.p95, step.count) + "; " +
              duration_text(from_ns(step.min)) + " to " + duration_text(from_ns(step.max));
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
  text += work_text(diagnosis, compact);
  if (diagnosis.device >= 0) {
    text += "; device " + std::to_string(diagnosis.device);
    if (!diagnosis.device_name.empty()) {
      text += ", " + shorten_middle(printable(diagnosis.device_name), kLongestName);
    }
    if (diagnosis.devices > 1) text += ", the idlest of " + std::to_string(diagnosis.devices);
  }
  return paragraph("Baseline", text, style);
}

/// In few words without the library's prefix.
std::string operator_text(std::string_view name, bool compact) {
  constexpr std::string_view kPrefix = "aten::";
  if (compact && name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return printable(name);
}

/// The costliest operators with their shares.
std::string operators_line(const Baseline& baseline, bool compact, const Style& style) {
  if (baseline.operators.empty()) return {};
  std::string text;
  for (const CostlyOperator& each : baseline.operators) {
    text += (text.empty() ? "" : ", ") +
            shorten_middle(operator_text(each.name, compact),
                           compact ? kShortOperator : kLongestOperator) +
            " " + percent_text(each.percent);
  }
  if (!compact)
    text += baseline.operators_on_device ? " of device time" : " of the operators' host time";
  return paragraph("Operators", text, style);
}

std::string check_text(const HealthCheck& check) {
  return std::string(to_string(check.status)) + ": " + check.sentence();
}

/// Remarks on the recording that a screen names; more are counted.
constexpr std::size_t kRemarks = 2;

/// Findings that are about the program, which stand first; where there are none, remarks on the
/// recording take their place.
std::size_t cards(const Diagnosis& diagnosis) {
  const auto recording = std::ranges::find(diagnosis.findings, FindingPart::capture,
                                           [](const RankedFinding& found) { return found.part; });
  if (recording == diagnosis.findings.begin()) return diagnosis.findings.size();
  return static_cast<std::size_t>(recording - diagnosis.findings.begin());
}

std::span<const RankedFinding> remarks(const Diagnosis& diagnosis) {
  return std::span(diagnosis.findings).subspan(cards(diagnosis));
}

/// The worst checks: a line each; on a screen the first, and how many more there are.
std::vector<std::string> capture_checks(const Diagnosis& diagnosis, bool all) {
  std::vector<const HealthCheck*> checks;
  for (const HealthCheck& check : diagnosis.health.checks) {
    if (check.status >= CheckStatus::warning) checks.push_back(&check);
  }
  if (checks.empty()) return {diagnosis.health.summary()};
  std::ranges::stable_sort(checks, std::ranges::greater(), &HealthCheck::status);
  std::vector<std::string> lines;
  lines.reserve(checks.size());
  for (const HealthCheck* const check : checks) lines.push_back(check_text(*check));
  if (all || lines.size() == 1) return lines;
  return {lines.front() + "; " + std::to_string(lines.size() - 1) + " more, see fathom health"};
}

/// Checks of the recording, then remarks on it: all of them, a few with a line each, or a number.
std::string capture(const Diagnosis& diagnosis, bool all, bool brief, const Style& style) {
  std::vector<std::string> lines = capture_checks(diagnosis, all);
  const std::span<const RankedFinding> found = remarks(diagnosis);
  const std::size_t named = all ? found.size() : brief ? 0 : std::min(found.size(), kRemarks);
  const std::size_t more = found.size() - named;
  for (const RankedFinding& remark : found.first(named)) lines.push_back(remark.finding.title);
  if (more > 0) {
    lines.back() += "; " + std::to_string(more) +
                    (named > 0   ? " more"
                     : more == 1 ? " remark"
                                 : " remarks");
  }
  std::string out;
  for (const std::string& line : lines) out += paragraph(out.empty() ? "Capture" : "", line, style);
  return out;
}

std::string verdict(const Diagnosis& diagnosis, const Style& style) {
  const Verdict& verdict = diagnosis.verdict;
  // The sentence of this one says it already.
  const std::string name = verdict.id == VerdictId::cannot_tell && verdict.also.empty()
                               ? ""
                               : verdict_text(verdict) + ". ";
  return paragraph("Verdict", name + verdict.sentence, style) +
         account_bar(diagnosis, kLabelWidth, style);
}

/// The best by gain per effort, where that is another order than that of gain.
std::string quick_wins_line(const Diagnosis& diagnosis, const Style& style) {
  const std::vector<std::size_t> order = quick_wins(diagnosis);
  if (order.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kBest); ++i) {
    const RankedFinding& found = diagnosis.findings[order[i]];
    text += (i == 0 ? "" : ", ") + std::to_string(found.number) + " (" +
            std::string(to_string(found.finding.effort)) + ")";
  }
  return paragraph("Quick wins", text, style);
}

/// What one screen shows; the less, the shorter.
struct Layout {
  std::vector<Detail> details;
  bool titles = true;
  std::size_t processes = 8;  ///< Of a program that nothing else is known of, at most.
  bool plain = false;         ///< Of such a program.
  bool compact = false;       ///< The baseline in few words.
  bool bare = false;          ///< Neither the order by effort nor what to look at next.
  [[nodiscard]] bool spacious() const {
    return !details.empty() && details.back() > Detail::change;
  }
};

std::string rest_of_findings(const Diagnosis& diagnosis, const Layout& layout, const Style& style) {
  const std::size_t shown = layout.details.size();
  const std::size_t count = cards(diagnosis);
  if (count <= shown) return {};
  if (!layout.titles) return "   and " + std::to_string(count - shown) + " more\n";
  std::string text;
  for (std::size_t i = shown; i < count; ++i) {
    text += title_line(headline(diagnosis.findings[i]), style.width) + "\n";
  }
  return text;
}

/// "met", "not met", "not recordable".
std::string status_text(ChecklistStatus status) {
  std::string text(to_string(status));
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// The profiling checklist, ticked.
std::string checklist_text(const Diagnosis& diagnosis, const Style& style) {
  if (diagnosis.checklist.empty()) return {};
  constexpr std::size_t kStatus = 16;
  std::string text = "\n" + style.bold("Capture: the checklist") + "\n";
  for (const ChecklistItem& item : diagnosis.checklist) {
    text += pad_right(status_text(item.status), kStatus) +
            wrap(std::string(item.title) + ": " + printable(item.reason), style.width - kStatus,
                 std::string(kStatus, ' ')) +
            "\n";
  }
  return text;
}

/// Remarks on the recording in full, with how to record better.
std::string remarks_text(const Diagnosis& diagnosis, const Style& style) {
  std::string text;
  for (const RankedFinding& remark : remarks(diagnosis))
    text += "\n" + finding_text(remark, diagnosis.input, Detail::full, style);
  return text.empty() ? text : "\n" + style.bold("Capture: remarks on the recording") + "\n" + text;
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

/// What was recorded of a program that torch.profiler did not record.
std::string plain_run(const Diagnosis& diagnosis, std::size_t most, const Style& style) {
  if (!diagnosis.run || !diagnosis.run->plain) return {};
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
  out += capture(diagnosis, all, !layout.titles, style);
  if (!plain || !diagnosis.step_name.empty()) out += baseline(diagnosis, layout.compact, style);
  out += operators_line(diagnosis.baseline, layout.compact, style);
  if (diagnosis.run) out += run_lines(*diagnosis.run, style);
  out += verdict(diagnosis, style) +
         plain_run(diagnosis, all ? SIZE_MAX : layout.processes, style) + "\n";
  for (std::size_t i = 0; i < layout.details.size(); ++i) {
    out += finding_text(diagnosis.findings[i], diagnosis.input, layout.details[i], style);
    if (airy) out += "\n";
  }
  if (!all) {
    const std::string rest = rest_of_findings(diagnosis, layout, style);
    out += rest + (airy && rest.empty() ? "" : "\n");
  }
  if (cards(diagnosis) == 0 && !plain) out += "No rule found anything to change.\n\n";
  if (diagnosis.together) out += paragraph("Together", together_text(*diagnosis.together), style);
  if (all && !diagnosis.baseline.utilisation.empty())
    out += paragraph("Note", diagnosis.baseline.utilisation, style);
  for (const std::string& note : diagnosis.notes) out += paragraph("Note", note, style);
  if (all && !diagnosis.step_note.empty()) out += paragraph("Steps", diagnosis.step_note, style);
  if (all) {
    out += paragraph("Replay",
                     percent_text(diagnosis.residuals.percent()) +
                         " of the window are delays that no dependency explains.",
                     style);
  }
  if (!layout.bare) out += quick_wins_line(diagnosis, style);
  out +=
      next_commands(diagnosis, request, {.all = all, .brief = !airy, .bare = layout.bare}, style);
  if (!all) return out;
  return out + checklist_text(diagnosis, style) + remarks_text(diagnosis, style) +
         rest_of_run(diagnosis, style) + rules_text(diagnosis, style);
}

/// Takes detail from the last of the most detailed findings, at the end the last finding; false
/// when one with its title and saving is left.
bool shrink(Layout& layout) {
  const auto most = std::ranges::max_element(layout.details.rbegin(), layout.details.rend());
  // Findings need the room more than processes do.
  for (const auto& [detail, processes] :
       {std::pair(Detail::evidence, std::size_t{3}), std::pair(Detail::change, std::size_t{1})}) {
    if (layout.processes > processes && (most == layout.details.rend() || *most <= detail)) {
      layout.processes = processes;
      return true;
    }
  }
  if (layout.titles && (most == layout.details.rend() || *most <= Detail::evidence)) {
    layout.titles = false;
    return true;
  }
  if (most == layout.details.rend()) return false;
  // What to change at the first cause tells more than what else could be looked at.
  const bool of_first = most == std::prev(layout.details.rend());
  if (layout.plain && of_first && *most == Detail::change && !layout.bare) {
    layout.bare = true;
    return true;
  }
  if (*most == Detail::saving && !layout.compact) {
    layout.compact = true;
    return true;
  }
  if (*most == Detail::saving && !layout.bare) {
    layout.bare = true;
    return true;
  }
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
    lines += 1 + (std::max<std::size_t>(display_width(take_line(text)), 1) - 1) / style.width;
  }
  return lines < height;
}

}  // namespace

std::string render_diagnosis_text(const Diagnosis& diagnosis, const DiagnosisRequest& request,
                                  bool all, const Style& style) {
  Layout layout;
  const std::size_t shown = all ? cards(diagnosis) : std::min(kBest, cards(diagnosis));
  layout.details.assign(shown, Detail::full);
  layout.plain = diagnosis.run && diagnosis.run->plain;
  std::string text = screen(diagnosis, request, all, layout, style);
  Style plain = style;
  plain.colour = false;  // Codes of colours take no room.
  while (!all && !fits(screen(diagnosis, request, all, layout, plain), style) && shrink(layout)) {
    text = screen(diagnosis, request, all, layout, style);
  }
  return in_charset(text, style);
}

}  // namespace fathom
