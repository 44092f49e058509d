// Writes a diagnosis as a static document.
#include "render/diagnosis_html.h"

#include <vector>

#include "base/quantity_text.h"
#include "render/finding_text.h"
#include "render/page/html.h"
#include "render/shell.h"
#include "render/step_parts.h"

namespace fathom {
namespace {

using page::coordinate;
using page::escaped;
using page::escaped_lines;

/// Hues as ui/src/base/palette.ts has them; beside each stands its name.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #16191d; --soft: #565e68; --paper: #fff; --line: #d8dce1; --gain: #00654a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #a2abb4; --paper: #14171a; --line: #31373e; --gain: #3fc79a; } }
body { font: 13px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 12px; overflow-wrap: anywhere; }
h1 { font-size: 18px; margin: 4px 0; } h2 { font-size: 15px; margin: 12px 0 4px; } p, ul { margin: 4px 0; }
.soft { color: var(--soft); } .gain { color: var(--gain); font-weight: 600; } pre { white-space: pre-wrap; margin: 0; }
.bar { display: flex; height: 24px; margin: 8px 0; } .bar i { border-right: 1px solid var(--paper); box-sizing: border-box; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 16px; }
.legend i { display: inline-block; width: 11px; height: 11px; margin-right: 4px; }
article { border-top: 1px solid var(--line); } dl { display: grid; grid-template-columns: 80px minmax(0, 1fr); gap: 2px 12px; margin: 4px 0; }
dt { color: var(--soft); } dd { margin: 0; }
.b-compute, .b-forward { background: #009e73; } .b-backward { background: #3fb68f; } .b-optimizer { background: #7fcfb3; }
.b-operators { background: #5fae98; } .b-communication { background: #cc79a7; } .b-copies { background: #0072b2; }
.b-input, .b-allocation, .b-warmup { background: #d55e00; } .b-sync { background: #e69f00; }
.b-dispatch, .b-python { background: #f0e442; } .b-dependency, .b-latency { background: #56b4e9; } .b-unknown { background: #8a929a; }
)css";

std::string accounting_bar(const Diagnosis& diagnosis) {
  const std::vector<StepPart> parts = parts_of(diagnosis);
  Duration whole{};
  for (const StepPart& part : parts) whole += part.time;
  if (whole <= Duration{}) return {};
  std::string bar;
  std::string legend;
  for (const StepPart& part : parts) {
    const double share =
        100.0 * static_cast<double>(to_ns(part.time)) / static_cast<double>(to_ns(whole));
    const std::string css = "b-" + std::string(part.id);
    const std::string text = escaped(part.name) + " " + percent_text(share);
    bar.append("<i class=\"").append(css).append("\" style=\"width:").append(coordinate(share));
    bar.append("%\" title=\"").append(text).append("\"></i>");
    legend.append("<li><i class=\"").append(css).append("\"></i>").append(text).append("</li>");
  }
  return "<div class=\"bar\" role=\"img\" aria-label=\"Where the time of the steps goes\">" + bar +
         "</div>\n<ul class=\"legend\">" + legend + "</ul>\n";
}

/// Checks of the capture that harm numbers.
std::string harm(const Diagnosis& diagnosis) {
  std::string rows;
  for (const HealthCheck& check : diagnosis.health.checks) {
    if (check.status <= CheckStatus::note) continue;
    rows += "<li>" + std::string(to_string(check.status)) + ": " + escaped(check.sentence()) +
            "</li>\n";
  }
  return "<p class=\"soft\">" + escaped(diagnosis.health.summary()) + "</p>\n" +
         (rows.empty() ? rows : "<ul>" + rows + "</ul>\n");
}

std::string verdict(const Diagnosis& diagnosis) {
  std::string_view sentence = diagnosis.verdict.sentence;
  // Said by the name already.
  constexpr std::string_view kCannotTell = "Cannot tell: ";
  if (sentence.starts_with(kCannotTell)) sentence.remove_prefix(kCannotTell.size());
  return "<h1>" + escaped(verdict_text(diagnosis.verdict)) + "</h1>\n<p>" + escaped(sentence) +
         "</p>\n";
}

/// Nothing where there is nothing to say.
std::string row(std::string_view name, const std::string& html) {
  return html.empty() ? html : "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>\n";
}

std::string code(const std::string& text) {
  return text.empty() ? text : "<pre>" + escaped_lines(text) + "</pre>";
}

std::string evidence_html(const Evidence& evidence) {
  const std::string place =
      evidence.location.empty() ? "" : " <code>" + escaped(evidence.location) + "</code>";
  return escaped(evidence.text) + place;
}

std::string alternative_html(const RankedFinding& other) {
  const std::string saving = on_top_text(other, false);
  std::string out = escaped(other.finding.title) + (saving.empty() ? "" : ": " + escaped(saving));
  for (const Evidence& evidence : other.finding.evidence) out += "<br>" + evidence_html(evidence);
  return out;
}

std::string finding(const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const Finding& found = ranked.finding;
  std::string out = "<article><h2>" + escaped(headline(ranked)) + "</h2><p class=\"gain\">" +
                    escaped(saving_text(ranked, false)) + "</p><dl>";
  for (const Evidence& evidence : found.evidence) out += row("evidence", evidence_html(evidence));
  out += row("against", escaped(found.counter_evidence));
  out += row("change", escaped(found.fix.text));
  out += row("before", code(found.fix.before)) + row("after", code(found.fix.after));
  out += row("check", code(command_on(found.verify, diagnosis.input)));
  for (const RankedFinding& other : ranked.alternatives) {
    out += row("also", alternative_html(other));
  }
  return out + "</dl></article>\n";
}

std::string findings(const Diagnosis& diagnosis) {
  std::string out;
  if (diagnosis.together) out = "<p>" + escaped(together_text(*diagnosis.together)) + "</p>\n";
  for (const RankedFinding& found : diagnosis.findings) out += finding(found, diagnosis);
  return diagnosis.findings.empty() ? "<p>No rule found anything to change.</p>\n" : out;
}

}  // namespace

std::string render_diagnosis_html(const Diagnosis& diagnosis) {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
  out.append(escaped(diagnosis.input)).append("</title><style>").append(kStyle);
  out += "</style></head><body>\n<p class=\"soft\">" + escaped(diagnosis.input) + "</p>\n";
  out += verdict(diagnosis) + accounting_bar(diagnosis) + harm(diagnosis) + findings(diagnosis);
  return out + "</body></html>\n";
}

}  // namespace fathom
