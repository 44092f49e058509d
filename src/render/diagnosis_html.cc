// Writes the diagnosis page.
#include "render/diagnosis_html.h"

#include <cmath>
#include <utility>

#include "base/quantity_text.h"
#include "render/finding_text.h"
#include "render/page/assets.h"
#include "render/page/charts.h"
#include "render/page/findings.h"
#include "render/page/html.h"
#include "render/page/tables.h"
#include "render/ranks_text.h"
#include "render/roofline_svg.h"
#include "render/run_text.h"

namespace fathom {
namespace {

using page::escaped;
using page::escaped_lines;
using page::term_link;

constexpr std::pair<std::string_view, std::string_view> kSections[] = {
    {"capture", "Capture"},  {"baseline", "Baseline"},       {"bottleneck", "Verdict"},
    {"components", "Where"}, {"findings", "What to change"}, {"tables", "Tables"},
    {"rules", "Rules"},      {"definitions", "Definitions"},
};

constexpr std::size_t kMostProcesses = 50;

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

/// A number, and below it what it is, which links to its definition.
std::string fact(const std::string& value, std::string_view term, std::string_view name) {
  return "<div><b>" + escaped(value) + "</b><span>" + term_link(term, escaped(name)) +
         "</span></div>";
}

/// The profiling checklist, ticked.
std::string checklist(const Diagnosis& diagnosis) {
  std::string rows;
  for (const ChecklistItem& item : diagnosis.checklist) {
    const std::string_view mark = item.status == ChecklistStatus::met       ? "✓ met"
                                  : item.status == ChecklistStatus::not_met ? "✗ not met"
                                                                            : "– not recordable";
    rows += "<tr><td>" + escaped(item.title) + "</td><td>" + std::string(mark) +
            "</td><td class=\"name\">" + escaped(item.reason) + "</td></tr>\n";
  }
  if (rows.empty()) return rows;
  return "<h3>Checklist</h3>\n<div class=\"scroll\"><table>" + rows + "</table></div>\n";
}

std::string capture(const Diagnosis& diagnosis) {
  std::string out = "<p>" + escaped(diagnosis.health.summary()) + "</p>\n";
  std::string rows;
  for (const HealthCheck& check : diagnosis.health.checks) {
    if (check.status < CheckStatus::note) continue;
    rows +=
        "<li><b class=\"" + std::string(to_string(check.status)) + "\">" +
        std::string(to_string(check.status)) + "</b> " + escaped(check.sentence()) +
        (check.advice.empty() ? "" : " <span class=\"soft\">" + escaped(check.advice) + "</span>") +
        "</li>\n";
  }
  if (!rows.empty()) out += "<ul>" + rows + "</ul>\n";
  return out + checklist(diagnosis) + page::remarks(diagnosis);
}

/// Processors, memory, GPUs and energy of the run, as the text has them.
std::string run_part(const Diagnosis& diagnosis) {
  Style page_style;
  page_style.width = 100;
  std::string out;
  if (diagnosis.ranks) {
    out += "<h3>The ranks</h3>\n<pre>" +
           escaped_lines(ranks_lines(*diagnosis.ranks, true, page_style)) + "</pre>\n";
  }
  if (!diagnosis.run) return out;
  out += "<h3>The run</h3>\n<pre>" +
         escaped_lines(run_lines(*diagnosis.run, page_style) +
                       process_lines(*diagnosis.run, kMostProcesses, page_style)) +
         "</pre>\n";
  if (!diagnosis.run->not_recorded.empty()) {
    out += "<details><summary>Not recorded</summary><pre>" +
           escaped_lines(not_recorded_lines(*diagnosis.run, page_style)) + "</pre></details>\n";
  }
  return out;
}

/// Throughput, use of the peak, and memory, as far as they are known.
std::string work_facts(const Diagnosis& diagnosis) {
  const Baseline& known = diagnosis.baseline;
  const double seconds = diagnosis.step_ns.mean / 1e9;
  std::string out;
  const auto rate = [&](const std::optional<double>& amount, std::string_view what) {
    if (amount && seconds > 0) out += fact(real_text(*amount / seconds), "step", what);
  };
  if (known.batch) {
    rate(known.batch->samples, "samples per second");
    rate(known.batch->tokens, "tokens per second");
  }
  if (known.mfu_percent) out += fact(percent_text(*known.mfu_percent), "roof", "of peak FLOP/s");
  if (known.busy_percent)
    out += fact(percent_text(*known.busy_percent), "accounting", "of the step the device is busy");
  if (known.peak_allocated) out += fact(bytes_text(*known.peak_allocated), "step", "peak memory");
  return out;
}

std::string operators_table(const Baseline& baseline) {
  if (baseline.operators.empty()) return {};
  std::string rows;
  for (const CostlyOperator& each : baseline.operators) {
    rows += "<tr><td class=\"name\">" + escaped(each.name) + "</td><td class=\"number\">" +
            duration_text(each.self) + "</td><td class=\"number\">" + percent_text(each.percent) +
            "</td></tr>\n";
  }
  return "<h3>The costliest operators</h3>\n<table><tr><th>operator</th><th>self time, " +
         std::string(baseline.operators_on_device ? "device" : "host") +
         "</th><th>of all</th></tr>" + rows + "</table>\n";
}

std::string baseline(const Diagnosis& diagnosis, const Page& page) {
  const Summary& step = diagnosis.step_ns;
  std::string out = "<details open><summary>Conditions</summary><div class=\"scroll\"><table>";
  for (const auto& [name, value] : page.conditions) {
    out +=
        "<tr><td>" + escaped(name) + "</td><td class=\"name\">" + escaped(value) + "</td></tr>\n";
  }
  out += "</table></div></details>\n<div class=\"facts\">";
  out += fact(duration_text(from_ns(step.median)), "step", "median step");
  out += fact(duration_text(from_ns(step.mean)), "step", "mean step");
  out += fact(duration_text(from_ns(step.stddev)), "step", "standard deviation");
  const std::string why = percentile_reason(step.count, 0.95);
  out += fact(step.p95 ? duration_text(from_ns(*step.p95)) : std::string(kNoValue), "step",
              "95th percentile" + (why.empty() ? why : " (" + why + ")"));
  out += fact(duration_text(from_ns(step.min)) + " – " + duration_text(from_ns(step.max)), "step",
              "shortest – longest");
  out += fact(std::to_string(step.count), "step",
              "steps counted, " + std::to_string(diagnosis.steps_left_out) + " left out");
  if (diagnosis.device >= 0) {
    const std::string number = std::to_string(diagnosis.device);
    out += fact(diagnosis.device_name.empty() ? number : diagnosis.device_name, "accounting",
                "device " + number + " is accounted for");
  }
  out += work_facts(diagnosis) + "</div>\n";
  if (!diagnosis.baseline.utilisation.empty())
    out += "<p class=\"note\">" + escaped(diagnosis.baseline.utilisation) + "</p>\n";
  out += operators_table(diagnosis.baseline);
  const std::string chart = page::step_chart(diagnosis);
  if (!chart.empty()) out += "<h3>Step time</h3>\n" + chart;
  out += run_part(diagnosis);
  if (!diagnosis.step_note.empty()) {
    out += "<p class=\"note\">" + escaped(diagnosis.step_note) + "</p>\n";
  }
  return out;
}

std::string bottleneck(const Diagnosis& diagnosis) {
  const std::string name(to_string(diagnosis.verdict.id));
  std::string_view sentence = diagnosis.verdict.sentence;
  // Said by the name already.
  constexpr std::string_view kCannotTell = "Cannot tell: ";
  if (sentence.starts_with(kCannotTell)) sentence.remove_prefix(kCannotTell.size());
  std::string out = "<p class=\"verdict\"><b>" + term_link(name, verdict_text(diagnosis.verdict)) +
                    "</b> — " + escaped(sentence) + "</p>\n";
  out += page::accounting_bar(diagnosis);
  out += "<p class=\"note\">" + term_link("residual", "Residual") +
         " of the replay: " + percent_text(diagnosis.residuals.percent()) + " of the window.</p>\n";
  if (!diagnosis.verdict.families.empty()) {
    out += "<details><summary>What each family could save at most</summary><table><tr><th>" +
           term_link("family", "family") + "</th><th>per step</th><th>of the step</th></tr>";
    for (const FamilyTime& family : diagnosis.verdict.families) {
      out += "<tr><td>" + std::string(to_string(family.family)) + "</td><td class=\"number\">" +
             duration_text(family.per_step) + "</td><td class=\"number\">" +
             percent_text(family.percent) + "</td></tr>\n";
    }
    out += "</table></details>\n";
  }
  return out;
}

std::string components(const Diagnosis& diagnosis, const Page& page) {
  std::string out;
  for (const View& phases : page.phases) {
    out +=
        "<h3>" + term_link("accounting", "Accounting") + " by phase</h3>\n" + page::table(phases);
  }
  if (!page.strip.empty()) {
    const std::string what = diagnosis.step_name.empty()
                                 ? "The recording"
                                 : "Step " + std::to_string(page.median.number) + ", the median";
    out += "<h3>" + what + ": threads and streams</h3>\n" + page::timeline_strip(page);
  }
  if (!page.flame.empty()) {
    out += "<h3>Flame graph of " + page.flame_metric +
           " time</h3><p class=\"note\">A click zooms in; a "
           "click on a frame above zooms out.</p>\n" +
           page::flame_graph(page);
  }
  return out;
}

std::string tables(const Page& page) {
  std::string out;
  for (const View& view : page.tables) {
    const bool open = &view == &page.tables.front() || has_roofline(*view.report);
    out += std::string("<details") + (open ? " open" : "") + "><summary>" +
           escaped(view.report->id) + " — " + escaped(view.report->title) + "</summary>\n";
    if (has_roofline(*view.report))
      out += "<div class=\"plot\">" + render_roofline_svg(view) + "</div>\n";
    out += page::table(view) + "</details>\n";
  }
  return out;
}

std::string contents() {
  std::string out = "<nav>";
  for (const auto& [id, name] : kSections) {
    out += "<a href=\"#" + std::string(id) + "\">" + std::string(name) + "</a> ";
  }
  return out + "</nav>\n";
}

}  // namespace

std::string render_diagnosis_html(const Diagnosis& diagnosis, const Page& page) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>Fathom: " +
      escaped(diagnosis.input) + "</title><style>";
  out += page::style();
  out += "</style></head><body>\n<h1>Where the time goes</h1><p class=\"soft\">" +
         escaped(diagnosis.input) + "</p>\n";
  out += contents();
  out += page::section("capture", "0 · Can the capture be trusted?", capture(diagnosis));
  out += page::section("baseline", "1 · Baseline", baseline(diagnosis, page));
  out += page::section("bottleneck", "2 · What bounds it", bottleneck(diagnosis));
  out += page::section("components", "3 · Where in the step", components(diagnosis, page));
  out += page::section("findings", "4 · What to change", page::findings(diagnosis));
  out += page::section("tables", "Tables", tables(page));
  out += page::section("rules", "Rules", page::rules(diagnosis));
  out += page::section("definitions", "Definitions", page::definitions(page.tables));
  out += "<script>";
  out += page::script();
  return out + "</script></body></html>\n";
}

}  // namespace fathom
