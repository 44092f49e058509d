// Lays out what baselines hold.
#include "render/baseline_text.h"

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/quantity_text.h"
#include "render/charset.h"
#include "render/finding_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kRuns = 4;

std::string time_text(double ns) { return duration_text(duration_ns(std::llround(ns))); }

std::string step_text(const Profile& profile) {
  const SampleSummary steps = step_summary(profile);
  std::string text = "median " + time_text(steps.median);
  if (steps.median_interval)
    text += " (95 % interval " + time_text(steps.median_interval->low) + " to " +
            time_text(steps.median_interval->high) + ")";
  return text + ", " + time_text(steps.min) + " to " + time_text(steps.max) + ", " +
         std::to_string(steps.count) + (steps.count == 1 ? " step" : " steps");
}

std::string counter_text(const Counter& counter, std::int64_t steps) {
  const double value =
      static_cast<double>(counter.value) / static_cast<double>(counter.per_step ? steps : 1);
  const bool bytes = counter.unit == "bytes";
  const bool whole = value == std::floor(value) && std::abs(value) < 9e15;
  return counter.title + " " +
         (bytes   ? bytes_text(std::llround(value))
          : whole ? count_text(static_cast<std::int64_t>(value))
                  : real_text(value));
}

std::string counters_text(const Profile& profile) {
  std::string text;
  for (const Counter& counter : profile.counters)
    text += (text.empty() ? "" : ", ") + counter_text(counter, profile.steps());
  return text;
}

std::string conditions_text(const Profile& profile) {
  std::string text;
  for (const Condition& condition : profile.conditions) {
    if (!condition.value.empty())
      text += (text.empty() ? "" : "; ") + condition.title + " " + condition.value;
  }
  return text;
}

std::string runs_text(const Snapshot& snapshot) {
  const std::size_t runs = snapshot.runs.size();
  const std::size_t ranks = snapshot.runs.front().size();
  std::string text = std::to_string(runs) + (runs == 1 ? " run" : " runs");
  if (ranks > 1) text += " of " + std::to_string(ranks) + " ranks";
  return text;
}

/// How many are not shown, and how many of all are sums; "" where neither is to be said.
std::string further_rows_text(const std::vector<const ProfileRow*>& rows) {
  std::string text;
  if (rows.size() > kRows) text = "and " + std::to_string(rows.size() - kRows) + " more";
  const auto sums =
      std::ranges::count_if(rows, [](const ProfileRow* row) { return row->key.op == kFoldedRows; });
  if (sums == 0) return text;
  return text + (text.empty() ? "" : "; ") + std::to_string(sums) + " of all " +
         std::to_string(rows.size()) + (sums == 1 ? " is a sum" : " are sums") +
         " of shorter ones that do not fit";
}

std::string rows_text(const Profile& profile, const Style& style) {
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : profile.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const ProfileRow* row) { return row->work.time_ns; });
  std::string text = "\n" + style.bold("   per step  longest rows") + "\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    const ProfileRow& row = *rows[i];
    const double mean =
        static_cast<double>(row.work.time_ns) / static_cast<double>(profile.steps());
    const std::string what = std::string(row.key.bucket.name()) + ": " +
                             (row.key.op.empty() ? "(no operator)" : row.key.op.str());
    text += pad_left(time_text(mean), 11) + "  " + shorten_middle(printable(what), 100) + "\n";
  }
  const std::string rest = further_rows_text(rows);
  if (!rest.empty()) text += "             " + rest + "\n";
  return text;
}

std::string snapshot_text(std::string_view label, const Snapshot& snapshot, const Style& style) {
  std::string text =
      paragraph(label, "saved " + snapshot.saved + ", " + runs_text(snapshot), style);
  std::size_t shown = 0;
  for (const Run& run : snapshot.runs) {
    for (const Profile& profile : run) {
      if (++shown > kRuns) continue;
      text += paragraph("", profile.input + ": " + step_text(profile), style);
    }
  }
  if (shown > kRuns) text += paragraph("", std::to_string(shown - kRuns) + " more", style);
  return text;
}

}  // namespace

std::string render_baseline_text(const NamedBaseline& named, const Style& style) {
  const SavedBaseline& baseline = named.baseline;
  const Profile& first = baseline.last.runs.front().front();
  std::string text = paragraph(
      "Baseline", named.path + ", " + count_text(static_cast<std::int64_t>(named.bytes)) + " bytes",
      style);
  if (const std::string note = version_note(baseline); !note.empty())
    text += paragraph("", note + ".", style);
  text += snapshot_text("Last", baseline.last, style);
  if (baseline.accepted) {
    text += snapshot_text("Accepted", *baseline.accepted, style);
  } else {
    text += paragraph("Accepted", "the last one", style);
  }
  const std::string counters = counters_text(first);
  if (!counters.empty()) text += paragraph("Per step", counters, style);
  const std::string conditions = conditions_text(first);
  if (!conditions.empty()) text += paragraph("Conditions", conditions, style);
  return in_charset(text + rows_text(first, style), style);
}

std::string render_baseline_list(const std::vector<NamedBaseline>& all, const Style& style) {
  std::size_t widest = 8;
  for (const NamedBaseline& each : all)
    widest = std::max(widest, std::min<std::size_t>(display_width(each.path), 60));
  std::string text = style.bold(pad_right("baseline", widest) + "  " + pad_right("last", 20) +
                                "  " + pad_right("accepted", 20) + "  runs  step time") +
                     "\n";
  for (const NamedBaseline& each : all) {
    const Snapshot& last = each.baseline.last;
    text += pad_right(shorten_middle(printable(each.path), widest), widest) + "  " +
            pad_right(printable(last.saved), 20) + "  " +
            pad_right(printable(each.baseline.accepted_one().saved), 20) + "  " +
            pad_left(std::to_string(last.runs.size()), 4) + "  " +
            time_text(step_summary(last.runs.front().front()).median) + "\n";
  }
  return in_charset(text, style);
}

std::string render_baseline_list_json(const std::vector<NamedBaseline>& all,
                                      std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.baselines/1").key("baselines").array(kJsonLines);
  for (const NamedBaseline& each : all) {
    const Snapshot& last = each.baseline.last;
    json.object(kJsonInline)
        .member("path", each.path)
        .member("bytes", each.bytes)
        .member("last", last.saved)
        .member("accepted", each.baseline.accepted_one().saved)
        .member("runs", last.runs.size())
        .member("steps", last.runs.front().front().steps())
        .member("median_step_ns", step_summary(last.runs.front().front()).median)
        .end();
  }
  json.end().end();
  return out;
}

}  // namespace fathom
