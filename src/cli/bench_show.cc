// Lays out the result of a bench for people.
#include "cli/bench_show.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "base/shell_word.h"
#include "capture/launcher/redact.h"
#include "measure/clocks.h"
#include "measure/measured_text.h"
#include "measure/program_facts.h"
#include "render/charset.h"
#include "render/finding_text.h"
#include "render/line_plot.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

using measure::claim_line;
using measure::MeasuredMetric;
using measure::MeasuredSide;
using measure::metric_text;
using measure::pairs_text;
using measure::Side;
using measure::Unit;

std::string summary_text(const MeasuredSide& side, Unit unit) {
  std::string text =
      count_text(static_cast<std::int64_t>(side.summary.count)) +
      (side.summary.count == 1 ? " run, " : " runs, ") +
      spread_text(side.summary, unit, measure::withheld_of(side)) +
      steadiness_text(side, unit, {.one = "run", .many = "runs", .warm_up = "--warmup"});
  if (side.summary.count > 2) {
    text +=
        "; correlation of neighbours " + real_text(std::round(100 * side.autocorrelation) / 100);
  }
  return text;
}

std::string stop_text(const BenchResult& result) {
  const measure::Sampled& sampled = result.outcome.sampled;
  const std::string resolution = measure::within_text(result.options.plan.resolution);
  if (result.outcome.interrupted != 0) return "Interrupted: what was measured until then.";
  if (sampled.stopped == measure::Stopped::time && result.options.plan.until_precise) {
    return "The time ran out before " + resolution + " could be decided." +
           (sampled.announced
                ? " That takes about " +
                      count_text(static_cast<std::int64_t>(sampled.announced->pairs)) +
                      (result.paired() ? " pairs, " : " runs, ") +
                      about_text(sampled.announced->time) + ", as estimated after " +
                      count_text(static_cast<std::int64_t>(sampled.announced->after)) +
                      ": use a longer --time or a coarser --resolution."
                : std::string());
  }
  return {};
}

std::string words_that_differ(const BenchResult& result) {
  const std::vector<std::string>& base = result.options.base;
  const std::vector<std::string>& now = result.options.command;
  if (base == now) return {};
  if (base.size() != now.size()) return "the command";
  const std::vector<std::string> shown_base = capture::redact_command(base);
  const std::vector<std::string> shown_now = capture::redact_command(now);
  std::string text;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (base[i] == now[i]) continue;
    text +=
        (text.empty() ? "" : "; ") + shell_word(shown_base[i]) + " → " + shell_word(shown_now[i]);
  }
  return text;
}

/// Of the two sides: the words of the commands, and what their programs said of themselves.
std::string differs_text(const BenchResult& result) {
  std::string text = words_that_differ(result);
  const std::vector<measure::BenchRun>& runs = result.outcome.runs;
  const std::string facts = measure::facts_that_differ(measure::facts_of(runs, Side::base),
                                                       measure::facts_of(runs, Side::now));
  if (!facts.empty()) text += (text.empty() ? "" : "; ") + facts;
  if (!text.empty()) return text;
  return result.options.base == result.options.command
             ? "nothing: the command is measured against itself"
             : "nothing that is known";
}

/// What the programs of the new side, or of both, said of themselves.
std::string programs_text(const BenchResult& result) {
  const std::vector<measure::BenchRun>& runs = result.outcome.runs;
  std::optional<std::vector<measure::FactOfRuns>> base;
  if (result.paired()) base = measure::facts_of(runs, Side::base);
  return measure::programs_text(base, measure::facts_of(runs, Side::now));
}

std::string first_run_text(const BenchResult& result) {
  std::string text;
  const measure::Metric* const headline = measure::metric_named(result.outcome.headline);
  if (headline == nullptr) return text;
  for (const measure::BenchRun& run : result.outcome.runs) {
    if (!run.warmup || run.pair != 0) continue;
    const std::optional<double> value = headline->value(run);
    text += (text.empty() ? "" : ", ") +
            std::string(!result.paired()         ? ""
                        : run.side == Side::base ? "base "
                                                 : "new ") +
            (value ? metric_text(*value, headline->unit) : std::string(kNoValue));
  }
  return text.empty() ? text : text + " (not counted)";
}

/// How many steps the runs of a side had: "30", "28 to 30".
std::string steps_of(const BenchResult& result, Side side) {
  std::optional<std::size_t> least;
  std::size_t most = 0;
  for (const measure::BenchRun& run : result.outcome.runs) {
    if (run.side != side || run.warmup || !run.steps) continue;
    const std::size_t count = run.steps->ns.size();
    least = std::min(least.value_or(count), count);
    most = std::max(most, count);
  }
  if (!least) return {};
  const std::string text = count_text(static_cast<std::int64_t>(*least));
  return *least == most ? text : text + " to " + count_text(static_cast<std::int64_t>(most));
}

/// What is measured, where it is not the wall time.
std::string headline_text(const BenchResult& result) {
  const measure::Metric* const headline = measure::metric_named(result.outcome.headline);
  if (headline == nullptr || headline->id == measure::kWallMetric) return {};
  std::string text(headline->title);
  if (!headline->definition.empty()) text.append(": ").append(headline->definition);
  return text;
}

/// "first step (from where it begins until it ends)".
std::string defined_title(const MeasuredMetric& metric) {
  return metric.title + (metric.definition.empty() ? "" : " (" + metric.definition + ")");
}

std::string steps_note(const BenchResult& result) {
  const std::string now = steps_of(result, Side::now);
  const auto varies = [](const std::string& steps) { return steps.find(" to ") != steps.npos; };
  if (!result.paired())
    return varies(now) ? "The number of steps changes from run to run: " + now + "." : "";
  const std::string base = steps_of(result, Side::base);
  if (base == now) {
    return varies(now) ? "The number of steps changes from run to run: " + now +
                             " on both sides. What is compared is a step, not a run."
                       : "";
  }
  return "The commands differ in their number of steps: base " + base + ", new " + now +
         " in each run. What is compared is a step, not a run.";
}

std::vector<std::string> notes_of(const BenchResult& result) {
  std::vector<std::string> notes;
  const auto add = [&](std::string text) {
    if (!text.empty()) notes.push_back(std::move(text));
  };
  add(stop_text(result));
  if (result.paired() && !result.metrics.empty())
    add(wider_note(result.outcome.sampled, result.metrics.front().claim,
                   result.options.plan.resolution));
  if (!result.metrics.empty()) add(measure::unsteady_note(result.metrics.front()));
  add(steps_note(result));
  add(throttled_note(result.outcome.conditions));
  std::int64_t left = 0;
  std::int64_t failed = 0;
  for (const measure::BenchRun& run : result.outcome.runs) {
    left += run.child.left_processes ? 1 : 0;
    failed += run.child.fine() ? 0 : 1;
  }
  if (failed > 0)
    add(failed == 1 ? "1 run failed, and counts like others."
                    : count_text(failed) + " runs failed, and count like others.");
  if (left > 0)
    add("After " + count_text(left) + (left == 1 ? " run" : " runs") +
        " background processes were ended.");
  return notes;
}

std::string target_text(const measure::TargetProgress& target) {
  std::string text = target.state == measure::TargetState::reached  ? "reached"
                     : target.state == measure::TargetState::missed ? "missed"
                                                                    : "cannot tell";
  text += ": " + percent_text(100 * target.wanted) + " less is wanted";
  if (!target.saved || !target.bounds) return text;
  const auto percent = [](double share) {
    return (share < 0 ? "−" : "") + percent_text(100 * std::abs(share));
  };
  // Nothing is on the way where more is taken.
  if (*target.saved < 0)
    return text + ", " + percent(-*target.saved) + " (" + percent(-target.bounds->high) + " to " +
           percent(-target.bounds->low) + ") more is taken";
  return text + ", " + percent(*target.saved) + " (" + percent(target.bounds->low) + " to " +
         percent(target.bounds->high) + ") is saved, " + percent(*target.saved / target.wanted) +
         " of the way";
}

}  // namespace

std::string about_text(Duration time) {
  const double seconds = static_cast<double>(to_ns(time)) / 1e9;
  if (seconds < 90) return count_text(std::max<std::int64_t>(1, std::llround(seconds))) + " s";
  if (seconds < 5400) return count_text(std::llround(seconds / 60)) + " min";
  return real_text(std::round(seconds / 360) / 10) + " h";
}

std::string bench_conditions_text(const measure::Conditions& conditions, std::uint64_t seed) {
  return measure::conditions_text(conditions) + ", seed " + std::to_string(seed);
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

std::string bench_text(const BenchResult& result, const Style& style) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& what) {
    if (!what.empty()) text += paragraph(label, what, style);
  };
  if (result.metrics.empty()) {
    add("Result", "no run was complete");
  } else {
    const MeasuredMetric& headline = result.metrics.front();
    add("Metric", headline_text(result));
    if (result.paired()) {
      add("Differs", differs_text(result));
      add("Base", capture::redacted_line(result.options.base));
      add("", summary_text(*headline.base, headline.unit));
    }
    add(result.paired() ? "New" : "Command", capture::redacted_line(result.options.command));
    add("", summary_text(headline.now, headline.unit));
    if (result.paired()) {
      add("Result", claim_line(headline, result.options.plan.resolution, true));
      add("", pairs_text(result.outcome.sampled.now.size()));
      if (result.target) add("Target", target_text(*result.target));
    }
    for (std::size_t i = 1; i < result.metrics.size(); ++i) {
      const MeasuredMetric& metric = result.metrics[i];
      add(i == 1 ? "Also" : "",
          defined_title(metric) + " " +
              (metric.base ? metric_text(metric.base->summary.median, metric.unit) + " → " : "") +
              metric_text(metric.now.summary.median, metric.unit) +
              (metric.base
                   ? ", " + claim_line(metric, result.options.plan.resolution, !metric.claim.ratio)
                   : ""));
    }
  }
  if (result.paired()) {
    const std::string base = clocks_text(result.outcome, Side::base);
    if (!base.empty()) add("Clocks", "base " + base);
    const std::string now = clocks_text(result.outcome, Side::now);
    if (!now.empty()) add(base.empty() ? "Clocks" : "", "new " + now);
  } else {
    add("Clocks", clocks_text(result.outcome, Side::now));
  }
  add("First run", first_run_text(result));
  add("Programs", programs_text(result));
  add("Devices", measure::gpus_text(result.outcome.conditions));
  add("Conditions", bench_conditions_text(result.outcome.conditions, result.options.plan.seed));
  for (const std::string& note : notes_of(result)) add("Note", note);
  return in_charset(text, style);
}

std::string bench_markdown(const BenchResult& result) {
  std::string text = "## Bench\n\n";
  if (result.metrics.empty()) return text + "No run was complete.\n";
  const double resolution = result.options.plan.resolution;
  if (result.paired()) {
    text += "**" + markdown_cell(claim_line(result.metrics.front(), resolution, true)) + "**\n\n" +
            pairs_text(result.outcome.sampled.now.size()) + "\n\n" +
            (result.target ? "Target " + markdown_cell(target_text(*result.target)) + "\n\n" : "") +
            "- Base: " + markdown_cell(capture::redacted_line(result.options.base)) + "\n- New: ";
  } else {
    text += "- Command: ";
  }
  text += markdown_cell(capture::redacted_line(result.options.command)) + "\n";
  if (result.paired()) text += "- Differs: " + markdown_cell(differs_text(result)) + "\n";
  text += result.paired() ? "\n| metric | base | new | |\n|---|---:|---:|---|\n"
                          : "\n| metric | median | |\n|---|---:|---|\n";
  for (const MeasuredMetric& metric : result.metrics) {
    text += "| " + std::string(metric.title) + " | ";
    if (metric.base) text += metric_text(metric.base->summary.median, metric.unit) + " | ";
    text += metric_text(metric.now.summary.median, metric.unit) + " | " +
            (metric.base ? markdown_cell(claim_line(metric, resolution, !metric.claim.ratio))
                         : markdown_cell(summary_text(metric.now, metric.unit))) +
            " |\n";
  }
  for (const std::string& line :
       {programs_text(result), measure::gpus_text(result.outcome.conditions)}) {
    if (!line.empty()) text += "\n" + markdown_cell(line) + "\n";
  }
  text +=
      "\n" +
      markdown_cell(bench_conditions_text(result.outcome.conditions, result.options.plan.seed)) +
      "\n";
  for (const std::string& note : notes_of(result)) text += "\n" + markdown_cell(note) + "\n";
  return text;
}

std::string bench_svg(const BenchResult& result) {
  const measure::Sampled& sampled = result.outcome.sampled;
  const measure::Metric* const metric = measure::metric_named(result.outcome.headline);
  const auto line = [](std::string name, const std::vector<double>& values) {
    LineSeries series{.name = std::move(name), .points = {}};
    for (std::size_t i = 0; i < values.size(); ++i)
      series.points.push_back(
          {.place = i, .middle = values[i], .low = values[i], .high = values[i]});
    return series;
  };
  LinePlot plot;
  plot.title = capture::redacted_line(result.options.command);
  plot.x_title = result.paired() ? "pair, in the order of time" : "run, in the order of time";
  if (metric != nullptr) plot.y_title = metric->title;
  if (!result.metrics.empty()) {
    const measure::MeasuredMetric& first = result.metrics.front();
    plot.caption = result.paired() ? claim_line(first, result.options.plan.resolution, true)
                                   : spread_text(first.now.summary, first.unit,
                                                 measure::withheld_of(first.now));
  }
  plot.value_text = [metric](double value) {
    return metric == nullptr ? std::string() : metric_text(value, metric->unit);
  };
  // No numbers, which would be placed by their logarithm.
  for (std::size_t i = 0; i < sampled.now.size(); ++i)
    plot.values.push_back("#" + std::to_string(i + 1));
  if (result.paired()) plot.series.push_back(line("base", sampled.base));
  plot.series.push_back(line(result.paired() ? "new" : "command", sampled.now));
  return render_line_plot(plot);
}

std::string announcement_text(const measure::Announcement& announced,
                              const measure::SamplingPlan& plan, std::string_view units) {
  std::string text = measure::within_text(plan.resolution) + " takes up to about " +
                     count_text(static_cast<std::int64_t>(announced.pairs)) + " " +
                     std::string(units) + ", " + about_text(announced.time) + " in all";
  if (plan.time && announced.time > *plan.time)
    text += "; measuring ends after " + about_text(*plan.time) + " (--time)";
  return text;
}

std::string progress_text(const measure::SamplingState& state, bool paired) {
  std::string text = count_text(static_cast<std::int64_t>(state.pairs)) +
                     (paired ? " pairs" : " runs") + ", " + about_text(state.elapsed);
  if (state.half_width && std::isfinite(*state.half_width))
    text += ", ±" + percent_text(100 * *state.half_width);
  if (state.left) text += ", about " + about_text(*state.left) + " left";
  return text;
}

}  // namespace fathom::cli
