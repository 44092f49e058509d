// Lays out sweeps, crossovers and bisections for people; plots them.
#include "cli/bench_varied_show.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/quantity_text.h"
#include "capture/launcher/redact.h"
#include "cli/bench_show.h"
#include "measure/measured_text.h"
#include "measure/metrics.h"
#include "measure/program_facts.h"
#include "render/charset.h"
#include "render/finding_text.h"
#include "render/line_plot.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

using measure::change_text;
using measure::claim_word;
using measure::Metric;
using measure::metric_text;
using measure::PointState;
using measure::Side;
using measure::Standing;
using measure::SweepRow;
using measure::VariedPoint;

const Metric* headline_of(const VariedResult& result) {
  return result.outcome.headline.empty() ? nullptr : measure::metric_named(result.outcome.headline);
}

std::string side_text(const SampleSummary& summary, const Metric& metric) {
  std::string text = metric_text(summary.median, metric.unit);
  if (summary.median_interval) {
    text += " (" + metric_text(summary.median_interval->low, metric.unit) + " to " +
            metric_text(summary.median_interval->high, metric.unit) + ")";
  }
  return text;
}

std::string state_text(const VariedPoint& point) {
  switch (point.state) {
    case PointState::out_of_memory:
      return "out of memory";
    case PointState::timed_out:
      return "took too long (--timeout)";
    case PointState::measured:
      break;
  }
  return "no complete round";
}

std::string standing_text(const SweepRow& row, double resolution) {
  if (!row.standing) return {};
  const std::string cost = row.cost ? ", costs " + change_text(*row.cost) : std::string();
  switch (*row.standing) {
    case Standing::best:
      return "best";
    case Standing::within:
      return "as good within " + measure::within_text(resolution).substr(2) + cost;
    case Standing::worse:
      return "worse" + cost;
    case Standing::cannot_tell:
      return "cannot tell" + cost;
  }
  return {};
}

/// Rows of cells under headings.
struct Grid {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

Grid grid_of(const VariedResult& result) {
  Grid grid;
  const Metric* const metric = headline_of(result);
  grid.headings = {result.outcome.name};
  if (result.paired()) grid.headings.emplace_back("base");
  grid.headings.emplace_back(result.paired()     ? "new"
                             : metric == nullptr ? std::string("value")
                                                 : std::string(metric->title));
  grid.headings.emplace_back("");
  const double resolution = result.options.plan.resolution;
  for (const SweepRow& row : result.verdict.rows) {
    const VariedPoint& point = result.outcome.points[row.point];
    std::vector<std::string> cells = {point.value};
    if (!row.now || metric == nullptr) {
      if (result.paired()) cells.emplace_back(kNoValue);
      cells.emplace_back(kNoValue);
      cells.push_back(state_text(point));
    } else {
      if (result.paired()) cells.push_back(side_text(*row.base, *metric));
      cells.push_back(side_text(*row.now, *metric));
      std::string told = standing_text(row, resolution);
      if (row.claim) {
        told = claim_word(*row.claim, resolution, metric->unit);
        if (row.claim->ratio) told += ": " + change_text(*row.claim->ratio);
      }
      if (!row.clocks.empty()) told += "; " + row.clocks;
      cells.push_back(std::move(told));
    }
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

std::string grid_text(const Grid& grid) {
  std::vector<std::size_t> widths(grid.headings.size());
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      widths[i] = std::max(widths[i], display_width(printable(cells[i])));
  };
  widen(grid.headings);
  for (const std::vector<std::string>& row : grid.rows) widen(row);
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += "  " + pad_right(printable(cells[i]), widths[i]);
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  };
  add(grid.headings);
  for (const std::vector<std::string>& row : grid.rows) add(row);
  return text;
}

std::string grid_markdown(const Grid& grid) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) text += "| " + markdown_cell(cell) + " ";
    text += "|\n";
  };
  add(grid.headings);
  for (std::size_t i = 0; i < grid.headings.size(); ++i)
    text += i + 1 < grid.headings.size() ? "|---:" : "|---";
  text += "|\n";
  for (const std::vector<std::string>& row : grid.rows) add(row);
  return text;
}

std::string rounds_text(const VariedResult& result) {
  std::size_t rounds = 0;
  for (const VariedPoint& point : result.outcome.points)
    rounds = std::max(rounds, point.now.size());
  return count_text(static_cast<std::int64_t>(rounds)) + (rounds == 1 ? " round" : " rounds") +
         " in random order, each value a new process; medians, 95 % intervals by order statistics "
         "and the sign test";
}

std::string values_text(const VariedResult& result, const std::vector<std::size_t>& places) {
  std::string text;
  for (const std::size_t place : places)
    text += (text.empty() ? "" : ", ") + result.outcome.points[place].value;
  return text;
}

std::string knee_text(const VariedResult& result) {
  const measure::SweepVerdict& verdict = result.verdict;
  if (result.paired() || !verdict.best) return {};
  if (!verdict.knee) return "cannot tell: below 6 rounds nothing can be claimed at 5 %";
  const std::string within = measure::within_text(result.options.plan.resolution).substr(2);
  std::string text = result.outcome.name + " " + result.outcome.points[*verdict.knee].value + ": ";
  text += verdict.knee == verdict.best
              ? "the best by its median, and no smaller value is certainly as good within " + within
              : "the smallest value that is certainly as good as the best (" +
                    result.outcome.points[*verdict.best].value + ") within " + within;
  if (!verdict.perhaps.empty())
    text += "; unknown for " + values_text(result, verdict.perhaps) +
            ": measure more rounds (--runs or --time)";
  return text;
}

/// A sentence about all sizes that were measured: as it is where each was decided, else by the
/// medians, with the sizes at which it is not known.
std::string at_sizes(const VariedResult& result, const std::string& said, bool more) {
  std::vector<std::size_t> unknown;
  bool decided = true;
  for (const SweepRow& row : result.verdict.rows) {
    if (!row.claim) continue;
    const measure::Verdict verdict = row.claim->verdict;
    if (verdict == measure::Verdict::cannot_tell) unknown.push_back(row.point);
    const bool costs_more = verdict == measure::Verdict::slower;
    decided = decided && verdict != measure::Verdict::cannot_tell && costs_more == more;
  }
  if (decided) return said;
  return (unknown.empty() ? ""
                          : "cannot tell at " + result.outcome.name + " " +
                                values_text(result, unknown) + "; ") +
         "by the medians " + said;
}

std::string crossover_text(const VariedResult& result) {
  if (!result.crossover) return {};
  const measure::CrossoverOutcome& found = *result.crossover;
  const std::string name = result.outcome.name + " ";
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  switch (found.crossing) {
    case measure::Crossing::always:
      return at_sizes(
          result, "the new command costs no more already at " + name + number(found.faster_from),
          false);
    case measure::Crossing::never:
      return at_sizes(result,
                      "the new command costs more up to " + name + number(found.slower_up_to) +
                          ", the last that was measured",
                      true);
    case measure::Crossing::unknown:
      if (found.not_measured == 0) return "measuring ended before it was found";
      return "cannot tell: " + name + number(found.not_measured) +
             " could not be measured on both sides" +
             (found.slower_up_to == 0 ? ""
                                      : "; " + at_sizes(result,
                                                        "the new command costs more up to " + name +
                                                            number(found.slower_up_to),
                                                        true));
    case measure::Crossing::found:
      break;
  }
  std::string text = "the new command costs no more from " + name + number(found.faster_from) +
                     " on; at " + number(found.slower_up_to) +
                     " it still costs more, by the medians";
  const std::string sure_low =
      found.surely_slower == 0 ? "" : "costs more at " + number(found.surely_slower);
  const std::string sure_high =
      found.surely_faster == 0 ? "" : "less at " + number(found.surely_faster);
  if (sure_low.empty() && sure_high.empty())
    return text + ". Neither is certain: measure more pairs (--runs)";
  return text + ". It certainly " + sure_low +
         (sure_low.empty() || sure_high.empty() ? "" : " and ") +
         (sure_low.empty() ? "costs " : "") + sure_high;
}

std::string clocks_note(const VariedResult& result) {
  std::string values;
  for (const SweepRow& row : result.verdict.rows) {
    if (!row.clocks.empty())
      values += (values.empty() ? "" : ", ") + result.outcome.points[row.point].value;
  }
  if (values.empty()) return {};
  return "GPU clocks differ at " + result.outcome.name + " " + values +
         ", and cycles do not confirm the times: the result is unknown there." +
         (result.crossover ? " The medians only show where to look." : "");
}

std::vector<std::string> notes_of(const VariedResult& result) {
  std::vector<std::string> notes;
  if (std::string note = clocks_note(result); !note.empty()) notes.push_back(std::move(note));
  const measure::VariedOutcome& outcome = result.outcome;
  if (outcome.interrupted != 0) notes.emplace_back("Interrupted: what was measured until then.");
  if (outcome.stopped == measure::Stopped::time && result.options.plan.until_precise)
    notes.push_back("The time ran out before all values could be distinguished within " +
                    measure::within_text(result.options.plan.resolution).substr(2) +
                    ": use a longer --time or a coarser --resolution." +
                    (outcome.announced
                         ? " That takes about " +
                               count_text(static_cast<std::int64_t>(outcome.announced->pairs)) +
                               " rounds, " + about_text(outcome.announced->time) + "."
                         : ""));
  for (const VariedPoint& point : outcome.points) {
    if (point.state != PointState::measured) notes.push_back(point.why);
  }
  return notes;
}

/// What the programs said of themselves, at all values together.
struct Programs {
  std::optional<std::vector<measure::FactOfRuns>> base;
  std::vector<measure::FactOfRuns> now;
};
Programs programs_of(const VariedResult& result) {
  Programs programs{.base = {}, .now = measure::facts_of(result.outcome.points, Side::now)};
  if (result.paired()) programs.base = measure::facts_of(result.outcome.points, Side::base);
  return programs;
}

std::string metric_line(const VariedResult& result) {
  const Metric* const metric = headline_of(result);
  if (metric == nullptr) return {};
  return std::string(metric->title) + (metric->more_is_better ? " (more is better)" : "");
}

}  // namespace

std::string varied_text(const VariedResult& result, const Style& style) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& what) {
    if (!what.empty()) text += paragraph(label, what, style);
  };
  if (result.paired()) add("Base", capture::redacted_line(result.options.base));
  add(result.paired() ? "New" : "Command", capture::redacted_line(result.options.command));
  add("Metric", metric_line(result));
  const Programs programs = programs_of(result);
  if (programs.base) add("Differs", measure::facts_that_differ(*programs.base, programs.now));
  text += "\n" + grid_text(grid_of(result)) + "\n";
  add("Knee", knee_text(result));
  add("Crossover", crossover_text(result));
  add("Rounds", rounds_text(result));
  add("Programs", measure::programs_text(programs.base, programs.now));
  add("Devices", measure::gpus_text(result.outcome.conditions));
  add("Conditions", bench_conditions_text(result.outcome.conditions, result.options.plan.seed));
  for (const std::string& note : notes_of(result)) add("Note", note);
  return in_charset(text, style);
}

std::string varied_markdown(const VariedResult& result) {
  std::string text = "## Bench: " + markdown_cell(result.outcome.name) + "\n\n";
  if (const std::string knee = knee_text(result); !knee.empty())
    text += "**Knee** " + markdown_cell(knee) + "\n\n";
  if (const std::string crossover = crossover_text(result); !crossover.empty())
    text += "**Crossover** " + markdown_cell(crossover) + "\n\n";
  if (result.paired())
    text += "- Base: " + markdown_cell(capture::redacted_line(result.options.base)) + "\n";
  const Programs programs = programs_of(result);
  const std::string differs =
      programs.base ? measure::facts_that_differ(*programs.base, programs.now) : std::string();
  if (!differs.empty()) text += "- Differs: " + markdown_cell(differs) + "\n";
  const std::string said = measure::programs_text(programs.base, programs.now);
  const std::string gpus = measure::gpus_text(result.outcome.conditions);
  text +=
      "- " + std::string(result.paired() ? "New" : "Command") + ": " +
      markdown_cell(capture::redacted_line(result.options.command)) +
      "\n- Metric: " + metric_line(result) + "\n\n" + grid_markdown(grid_of(result)) + "\n" +
      rounds_text(result) + "\n\n" + (said.empty() ? "" : markdown_cell(said) + "\n\n") +
      (gpus.empty() ? "" : markdown_cell(gpus) + "\n\n") +
      markdown_cell(bench_conditions_text(result.outcome.conditions, result.options.plan.seed)) +
      "\n";
  for (const std::string& note : notes_of(result)) text += "\n" + markdown_cell(note) + "\n";
  return text;
}

std::string varied_svg(const VariedResult& result) {
  const Metric* const metric = headline_of(result);
  LinePlot plot;
  plot.title = capture::redacted_line(result.options.command);
  plot.x_title = result.outcome.name;
  plot.y_title = metric_line(result);
  plot.caption = rounds_text(result);
  plot.value_text = [metric](double value) {
    return metric == nullptr ? std::string() : metric_text(value, metric->unit);
  };
  std::vector<LineSeries> series(result.paired() ? 2 : 1);
  series.front().name = result.paired() ? "base" : "";
  series.back().name = result.paired() ? "new" : "command";
  const auto add = [](LineSeries& line, std::size_t place, const SampleSummary& summary) {
    const Bounds bounds =
        summary.median_interval.value_or(Bounds{.low = summary.median, .high = summary.median});
    line.points.push_back(
        {.place = place, .middle = summary.median, .low = bounds.low, .high = bounds.high});
  };
  for (const SweepRow& row : result.verdict.rows) {
    plot.values.push_back(result.outcome.points[row.point].value);
    if (row.base) add(series.front(), row.point, *row.base);
    if (row.now) add(series.back(), row.point, *row.now);
  }
  plot.series = std::move(series);
  if (result.verdict.knee) {
    plot.marked = result.verdict.knee;
    plot.mark = "knee";
  } else if (result.crossover && result.crossover->faster_from != 0) {
    const std::string value = std::to_string(result.crossover->faster_from);
    const auto place = std::ranges::find(plot.values, value);
    if (place != plot.values.end())
      plot.marked = static_cast<std::size_t>(place - plot.values.begin());
    plot.mark = "crossover";
  }
  return render_line_plot(plot);
}

std::string probe_text(const std::string& name, const measure::Probe& probe) {
  std::string text = name + " " + std::to_string(probe.value) + ": ";
  if (!probe.fits) return text + probe.why;
  text += "runs";
  if (probe.run.steps)
    text += ", " + count_text(static_cast<std::int64_t>(probe.run.steps->ns.size())) + " steps";
  if (probe.run.child.peak_bytes)
    text += ", peak memory " + bytes_text(*probe.run.child.peak_bytes);
  if (probe.run.devices && probe.run.devices->gpu_memory)
    text += ", GPU memory " + metric_text(*probe.run.devices->gpu_memory, measure::Unit::bytes);
  return text;
}

namespace {

std::string largest_text(const BisectResult& result) {
  const measure::BisectOutcome& outcome = result.outcome;
  const std::string& name = result.options.range.name;
  if (outcome.largest == 0)
    return outcome.smallest_failed == 0
               ? "nothing was measured"
               : "none: already " + name + " " + std::to_string(outcome.smallest_failed) +
                     " does not run";
  std::string text = name + " " + std::to_string(outcome.largest);
  if (!outcome.complete) return text + " runs; the search ended before larger ones were tried";
  if (outcome.smallest_failed == 0) return text + ", the end of the range, runs";
  return text + " runs, twice, in fresh processes; " + std::to_string(outcome.smallest_failed) +
         " does not";
}

std::string limit_text(const BisectResult& result) {
  const auto& limit = result.options.bench.child.memory_limit;
  return limit ? bytes_text(*limit) + " of memory of its own for each process (--memory-limit)"
               : std::string("none");
}

}  // namespace

std::string bisect_text(const BisectResult& result, const Style& style) {
  std::string text =
      paragraph("Command", capture::redacted_line(result.options.bench.command), style);
  text += paragraph("Limit", limit_text(result), style);
  bool first = true;
  for (const measure::Probe& probe : result.outcome.probes) {
    text += paragraph(first ? "Tried" : "", probe_text(result.options.range.name, probe), style);
    first = false;
  }
  text += paragraph("Largest", largest_text(result), style);
  if (result.outcome.interrupted != 0)
    text += paragraph("Note", "Interrupted: what was measured until then.", style);
  return in_charset(text, style);
}

std::string bisect_markdown(const BisectResult& result) {
  std::string text = "## Bench: the largest " + markdown_cell(result.options.range.name) +
                     "\n\n**" + markdown_cell(largest_text(result)) + "**\n\n- Command: " +
                     markdown_cell(capture::redacted_line(result.options.bench.command)) +
                     "\n- Limit: " + markdown_cell(limit_text(result)) + "\n";
  for (const measure::Probe& probe : result.outcome.probes)
    text += "- " + markdown_cell(probe_text(result.options.range.name, probe)) + "\n";
  return text;
}

}  // namespace fathom::cli
