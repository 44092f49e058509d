// Lays out the result of measuring a function.
#include "measure/function_text.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/markup.h"
#include "base/quantity_text.h"
#include "measure/measured_text.h"

namespace fathom::measure {
namespace {

constexpr std::size_t kLabelWidth = 14;

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
  return columns;
}

/// Words beside a label, wrapped. Control characters become blanks.
std::string labelled(std::string_view label, std::string_view text, std::size_t width) {
  std::string out(label);
  out.append(kLabelWidth - std::min(kLabelWidth, columns_of(label)), ' ');
  std::size_t column = kLabelWidth;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    for (char& c : word) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t columns = columns_of(word);
    if (!first && column + 1 + columns > width) {
      out += '\n' + std::string(kLabelWidth, ' ');
      column = kLabelWidth;
      first = true;
    }
    if (!first) out += ' ';
    column += columns + (first ? 0 : 1);
    out += word;
    first = false;
  }
  return out + '\n';
}

std::string count(std::size_t number) { return count_text(static_cast<std::int64_t>(number)); }

std::string side_text(const MeasuredSide& side, Unit unit, std::size_t calls) {
  std::string text = count(side.summary.count) + (side.summary.count == 1 ? " sample" : " samples");
  if (calls > 1) text += " of " + count(calls) + " calls";
  text += ", " + spread_text(side.summary, unit, withheld_of(side)) +
          steadiness_text(side, unit, {.one = "sample", .many = "samples", .warm_up = "warmup="});
  if (side.summary.count > 2) {
    text +=
        "; correlation of neighbours " + real_text(std::round(100 * side.autocorrelation) / 100);
  }
  return text;
}

std::size_t calls_of(const FunctionResult& result, Side side) {
  return result.outcome.calls[static_cast<std::size_t>(side)];
}

std::string mode_text(const FunctionResult& result) {
  std::string text = result.outcome.mode + " (" + result.outcome.clock + ")";
  if (!result.l2.empty()) text += ", L2 " + result.l2;
  if (result.launches == "hidden") text += ", launches hidden";
  if (!result.device.empty()) text += ", " + result.device;
  return text + "; a sample lasts at least " + duration_text(result.outcome.least_block);
}

std::string first_text(const FunctionResult& result) {
  const auto& first = result.outcome.first_call_ns;
  std::string text;
  if (first[0]) text = "base " + metric_text(*first[0], Unit::ns) + ", new ";
  if (!first[1]) return {};
  return text + metric_text(*first[1], Unit::ns) + " (not counted)";
}

std::string all_conditions_text(const FunctionResult& result) {
  std::string text = conditions_text(result.outcome.conditions);
  for (const auto& [name, value] : result.facts)
    text.append(", ").append(name).append(" ").append(value);
  return text + ", seed " + std::to_string(result.options.plan.seed);
}

std::string clocks_text(const ClockSummary& clocks) {
  std::string text;
  if (clocks.median_mhz) text = real_text(*clocks.median_mhz) + " MHz";
  for (const ReasonShare& each : clocks.reasons) {
    text += (text.empty() ? "" : ", ") + std::string(each.name) + " in " +
            percent_text(100 * each.share);
  }
  return text;
}

std::string all_clocks_text(const FunctionResult& result) {
  std::string now = clocks_text(result.now_clocks);
  if (!result.paired() || now.empty()) return now;
  return "base " + clocks_text(result.base_clocks) + "; new " + now;
}

std::vector<std::string> notes_of(const FunctionResult& result) {
  std::vector<std::string> notes = result.notes;
  const FunctionOutcome& outcome = result.outcome;
  if (outcome.failed) notes.insert(notes.begin(), "Interrupted: what was measured until then.");
  if (outcome.sampled.stopped == Stopped::time && result.options.plan.until_precise) {
    notes.push_back("The time ran out before " + within_text(result.options.plan.resolution) +
                    " could be decided." +
                    (outcome.sampled.announced
                         ? " That takes about " + count(outcome.sampled.announced->pairs) +
                               (result.paired() ? " pairs, " : " samples, ") +
                               duration_text(outcome.sampled.announced->time) +
                               ": use a longer time= or a coarser resolution=."
                         : std::string()));
  }
  if (result.paired() && !result.metrics.empty()) {
    std::string wider =
        wider_note(outcome.sampled, result.metrics.front().claim, result.options.plan.resolution);
    if (!wider.empty()) notes.push_back(std::move(wider));
  }
  if (!result.metrics.empty()) {
    if (std::string note = unsteady_note(result.metrics.front()); !note.empty())
      notes.push_back(std::move(note));
  }
  if (std::string note = throttled_note(outcome.conditions); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

/// "items per second (items by the time from the call to the end)".
std::string defined_title(const MeasuredMetric& metric) {
  return metric.title + (metric.definition.empty() ? "" : " (" + metric.definition + ")");
}

std::string html_row(std::string_view name, const MeasuredSide& side, Unit unit) {
  const SampleSummary& summary = side.summary;
  const auto value = [&](double number) { return "<td>" + metric_text(number, unit) + "</td>"; };
  const auto tail = [&](const std::optional<double>& number, double quantile) {
    if (number) return value(*number);
    const std::string reason = side.never_steady() ? std::string(withheld_of(side))
                                                   : percentile_reason(summary.count, quantile);
    return "<td title=\"" + reason + "\">" + std::string(kNoValue) + "</td>";
  };
  std::string row = "<tr><th>" + markup_escaped(name) + "</th><td>" + count(summary.count) +
                    "</td>" + value(summary.median) + "<td>";
  if (summary.median_interval) {
    row += metric_text(summary.median_interval->low, unit) + " to " +
           metric_text(summary.median_interval->high, unit);
  } else {
    row += kNoValue;
  }
  return row + "</td>" + value(summary.mean) + value(summary.stddev) + value(summary.min) +
         value(summary.max) + tail(summary.p95, 0.95) + tail(summary.p99, 0.99) + "</tr>";
}

}  // namespace

std::string function_text(const FunctionResult& result, std::size_t width) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& what) {
    if (!what.empty()) text += labelled(label, what, width);
  };
  const double resolution = result.options.plan.resolution;
  if (result.metrics.empty()) {
    add("Result", result.paired() ? "no pair was complete" : "no sample was complete");
  } else {
    const MeasuredMetric& headline = result.metrics.front();
    if (!headline.definition.empty()) add("Metric", defined_title(headline));
    if (result.paired()) {
      add("Base", result.options.base);
      add("", side_text(*headline.base, headline.unit, calls_of(result, Side::base)));
    }
    add(result.paired() ? "New" : "Function", result.options.now);
    add("", side_text(headline.now, headline.unit, calls_of(result, Side::now)));
    if (result.paired()) {
      add("Result", claim_line(headline, resolution));
      add("", pairs_text(result.outcome.sampled.now.size()));
    }
    for (std::size_t i = 1; i < result.metrics.size(); ++i) {
      const MeasuredMetric& metric = result.metrics[i];
      add(i == 1 ? "Items" : "",
          defined_title(metric) + " " +
              (metric.base ? metric_text(metric.base->summary.median, metric.unit) + " → " : "") +
              metric_text(metric.now.summary.median, metric.unit) +
              (metric.base ? ", " + claim_line(metric, resolution) : ""));
    }
    if (result.base_gaps) add("Gaps", "base: " + spread_text(*result.base_gaps, Unit::ns));
    if (result.now_gaps)
      add(result.base_gaps ? "" : "Gaps",
          (result.base_gaps ? "new: " : "") + spread_text(*result.now_gaps, Unit::ns));
  }
  add("Timed by", mode_text(result));
  add("First call", first_text(result));
  add("Clocks", all_clocks_text(result));
  add("Devices", gpus_text(result.outcome.conditions));
  add("Conditions", all_conditions_text(result));
  for (const std::string& note : notes_of(result)) add("Note", note);
  return text;
}

std::string function_html(const FunctionResult& result) {
  std::string html = "<div>";
  const double resolution = result.options.plan.resolution;
  for (const MeasuredMetric& metric : result.metrics) {
    html += "<p><b>" + markup_escaped(metric.title) + "</b>";
    if (metric.base) html += ": " + markup_escaped(claim_line(metric, resolution));
    if (!metric.definition.empty())
      html += "<br><small>" + markup_escaped(metric.definition) + "</small>";
    html += "</p><table><tr><th></th>";
    for (const std::string_view head : {"samples", "median", "95 % interval", "mean", "deviation",
                                        "least", "greatest", "p95", "p99"})
      html += "<th>" + std::string(head) + "</th>";
    html += "</tr>";
    if (metric.base) html += html_row(result.options.base, *metric.base, metric.unit);
    html += html_row(result.options.now, metric.now, metric.unit) + "</table>";
  }
  if (result.metrics.empty()) html += "<p>no sample was complete</p>";
  html += "<p><small>" + markup_escaped(mode_text(result)) + "<br>" +
          markup_escaped(all_conditions_text(result));
  if (const std::string gpus = gpus_text(result.outcome.conditions); !gpus.empty())
    html += "<br>" + markup_escaped(gpus);
  for (const std::string& note : notes_of(result)) html += "<br>" + markup_escaped(note);
  return html + "</small></p></div>";
}

}  // namespace fathom::measure
