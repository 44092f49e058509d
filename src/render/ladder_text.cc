// Lays out ladders.
#include "render/ladder_text.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "render/charset.h"
#include "render/compare_rows.h"
#include "render/finding_text.h"
#include "render/markdown.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kStepWidth = 12;
constexpr std::size_t kChangeWidth = 14;
constexpr std::size_t kFactorWidth = 10;
constexpr std::size_t kMemoryWidth = 14;
/// In markdown: a recording may say anything.
constexpr std::size_t kLongestDiffers = 20'000;
constexpr std::size_t kMost = 3;  // causes and counts of a step

std::string ns_text(double ns) { return duration_text(duration_ns(std::llround(ns))); }

std::string change_of(const std::optional<Comparison>& pair) {
  return pair ? signed_percent(100 * (pair->ratio - 1)) : std::string(kNoValue);
}

/// "1.40 ×" of the step time before by that after.
std::string factor_of(const std::optional<Comparison>& pair) {
  if (!pair || !(pair->ratio > 0)) return std::string(kNoValue);
  return real_text(std::round(100 / pair->ratio) / 100) + " ×";
}

std::string memory_of(const LadderVariant& variant) {
  return variant.peak_bytes ? bytes_text(*variant.peak_bytes) : std::string(kNoValue);
}

std::string interval_of(const std::optional<Comparison>& pair) {
  if (!pair || !pair->ratio_interval) return {};
  return signed_percent(100 * (pair->ratio_interval->low - 1)) + " to " +
         signed_percent(100 * (pair->ratio_interval->high - 1));
}

/// Whether a step is a step, by its interval.
std::string claim_of(const Comparison& pair) {
  if (pair.comparability == Comparability::same_recording) return "the same recording";
  const std::string interval = interval_of(pair);
  if (interval.empty()) return "no interval";
  const bool differs = pair.ratio_interval->high < 1 || pair.ratio_interval->low > 1;
  return "this step " + interval + " at 95 %" + (differs ? "" : ", possibly no change");
}

/// What changed on this variant: causes, or why they are withheld.
std::string why_of(const Comparison& pair) {
  if (pair.comparability == Comparability::different_work) return "different work: withheld";
  if (pair.comparability == Comparability::different_devices) return "different devices: withheld";
  if (pair.comparability == Comparability::times_only) return {};
  const std::vector<ChangeLine> causes = cause_lines(pair, kMost);
  return causes.empty() ? std::string() : causes.front().what;
}

/// In what conditions it differs from the variant before; "" where in none.
std::string differs_of(const Comparison& step) {
  const std::string differs = differs_text(step.differs);
  return differs.empty() ? differs : "differs: " + differs;
}

std::string basis_text(const Ladder& ladder) {
  const Comparison& last = *ladder.variants.back().in_all;
  return last.ratio_note;
}

}  // namespace

std::string target_text(const Target& target, const TargetProgress& progress, double now_ns) {
  std::string text = ns_text(progress.target_ns);
  if (target.ratio) text += ", " + target.text + " less than the first";
  text += ": ";
  if (progress.way) text += percent_text(100 * *progress.way) + " of the way";
  if (!progress.way) text += "the first is not above it";
  if (progress.reached == Reached::yes) return text + ", certainly reached.";
  if (progress.reached == Reached::no)
    return text + ", certainly not reached; " + ns_text(now_ns - progress.target_ns) +
           " per step to go.";
  text += "; these recordings do not show whether it is reached";
  if (!progress.reason.empty()) text += ": " + progress.reason;
  return text + ".";
}

std::string render_ladder_text(const Ladder& ladder, const Style& style) {
  const std::string rank = ladder.rank == kAbsent ? "" : ", of rank " + std::to_string(ladder.rank);
  std::string text = paragraph("Ladder",
                               std::to_string(ladder.variants.size()) +
                                   " recordings, each beside the one before and beside the first; "
                                   "medians of the usual steps" +
                                   rank + ".",
                               style);
  if (!basis_text(ladder).empty()) text += paragraph("In all", basis_text(ladder), style);
  text += '\n' +
          style.bold(pad_left("step", kStepWidth) + pad_left("by this step", kChangeWidth) +
                     pad_left("in all", kChangeWidth) + pad_left("faster", kFactorWidth) +
                     pad_left("peak memory", kMemoryWidth)) +
          '\n';
  for (const LadderVariant& variant : ladder.variants) {
    text += pad_left(ns_text(variant.side.step_ns.median), kStepWidth) +
            pad_left(change_of(variant.step), kChangeWidth) +
            pad_left(change_of(variant.in_all), kChangeWidth) +
            pad_left(factor_of(variant.in_all), kFactorWidth) +
            pad_left(memory_of(variant), kMemoryWidth) + '\n';
    const std::size_t room = std::max<std::size_t>(style.width, 20) - 4;
    const auto add = [&](const std::string& line) {
      if (line.empty()) return;
      text +=
          "    " + (style.wide ? printable(line) : shorten_middle(printable(line), room)) + '\n';
    };
    add(variant.side.input);
    if (!variant.step) continue;
    if (const std::string differs = differs_of(*variant.step); !differs.empty())
      text += "    " + wrap(printable(differs), room, std::string(4, ' ')) + '\n';
    const std::string why = why_of(*variant.step);
    add(claim_of(*variant.step) + (why.empty() ? "" : "; " + why));
  }
  if (ladder.progress)
    text += '\n' + paragraph("Target",
                             target_text(*ladder.target, *ladder.progress,
                                         ladder.variants.back().side.step_ns.median),
                             style);
  for (const std::string& note : ladder.notes) text += paragraph("Note", note, style);
  return in_charset(text, style);
}

std::string render_ladder_markdown(const Ladder& ladder) {
  std::string text =
      "## Ladder\n\n| recording | step | by this step | in all | faster | peak memory | why |\n"
      "|---|---:|---:|---:|---:|---:|---|\n";
  for (const LadderVariant& variant : ladder.variants) {
    text += "| " + short_cell(variant.side.input) + " | " + ns_text(variant.side.step_ns.median) +
            " | " + change_of(variant.step) + " | " + change_of(variant.in_all) + " | " +
            factor_of(variant.in_all) + " | " + memory_of(variant) + " | " +
            (variant.step
                 ? short_cell(claim_of(*variant.step) +
                              (why_of(*variant.step).empty() ? "" : "; ") + why_of(*variant.step))
                 : "") +
            " |\n";
  }
  std::string differ;
  for (const LadderVariant& variant : ladder.variants) {
    if (variant.step && !variant.step->differs.empty())
      differ += "- " + short_cell(variant.side.input) + " " +
                short_cell(differs_of(*variant.step), kLongestDiffers) + "\n";
  }
  if (!differ.empty()) text += "\n" + differ;
  if (!basis_text(ladder).empty()) text += "\n" + markdown_cell(basis_text(ladder)) + "\n";
  if (ladder.progress)
    text += "\n**Target**: " +
            markdown_cell(target_text(*ladder.target, *ladder.progress,
                                      ladder.variants.back().side.step_ns.median)) +
            "\n";
  for (const std::string& note : ladder.notes) text += "\n" + short_cell(note) + "\n";
  return text;
}

}  // namespace fathom
