// Writes the findings of the diagnosis page.
#include "render/page/findings.h"

#include <vector>

#include "base/quantity_text.h"
#include "render/finding_text.h"
#include "render/page/html.h"
#include "render/shell.h"

namespace fathom::page {
namespace {

/// A name that links to its definition, and what stands beside it; nothing where there is nothing.
std::string row(std::string_view name, std::string_view term, const std::string& html) {
  if (html.empty()) return {};
  const std::string shown = term.empty() ? std::string(name) : term_link(term, name);
  return "<dt>" + shown + "</dt><dd>" + html + "</dd>\n";
}

std::string code(const std::string& text) {
  return text.empty() ? text : "<pre>" + escaped_lines(text) + "</pre>";
}

std::string tag(std::string_view term, std::string_view css, const std::string& text) {
  return "<span class=\"tag " + std::string(css) + "\">" + term_link(term, text) + "</span>";
}

std::string evidence_html(const Evidence& evidence, Time start) {
  std::string html = escaped(evidence.text);
  if (!evidence.location.empty()) html += " — <code>" + escaped(evidence.location) + "</code>";
  if (evidence.where) {
    html += " <span class=\"soft\">at " + duration_text(evidence.where->begin - start) + "</span>";
  }
  return html;
}

std::string head(const RankedFinding& ranked) {
  const Finding& found = ranked.finding;
  const std::string weight(to_string(found.weight));
  const std::string number = ranked.number == 0 ? "" : std::to_string(ranked.number);
  return "<article class=\"finding\"" +
         (number.empty() ? "><h3>" : " id=\"finding-" + number + "\"><h3>" + number + ". ") +
         escaped(found.title) + "</h3>" + tag("severity", weight, weight) +
         tag("confidence", "", "confidence: " + std::string(to_string(found.confidence))) +
         tag("effort", "", "effort: " + std::string(to_string(found.effort))) +
         tag("quick win", "", "quick win " + std::to_string(ranked.quick_win)) +
         "<span class=\"tag\"><a href=\"#rule-" + std::string(found.rule) + "\">" +
         std::string(found.rule) + "</a></span>";
}

/// Another finding of the same cause.
std::string alternative(const RankedFinding& other, const Diagnosis& diagnosis) {
  const Finding& found = other.finding;
  std::string html = "<b>" + escaped(found.title) + "</b> (<a href=\"#rule-" +
                     std::string(found.rule) + "\">" + std::string(found.rule) +
                     "</a>): " + escaped(saving_text(other, false)) + ". ";
  for (const Evidence& evidence : found.evidence)
    html += evidence_html(evidence, diagnosis.start) + ". ";
  return html + escaped(found.fix.text) + code(found.fix.after);
}

std::string finding(const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const Finding& found = ranked.finding;
  std::string out = head(ranked) + "<dl>" +
                    row("predicted", "predicted saving",
                        "<span class=\"gain\">" + saving_text(ranked, false) + "</span>");
  if (to_ns(ranked.upper_bound) > 0) {
    out += row("at most", "upper bound",
               duration_text(ranked.upper_bound) + " of the step, " + percent_text(ranked.percent));
  }
  for (const Evidence& evidence : found.evidence) {
    out += row("evidence", "evidence", evidence_html(evidence, diagnosis.start));
  }
  out += row("against", "counter-evidence", escaped(found.counter_evidence));
  out += row("change", "effort", escaped(found.fix.text));
  out += row("before", "", code(found.fix.before)) + row("after", "", code(found.fix.after));
  out += row("assumed", "predicted saving", escaped(found.assumption));
  out += row("check", "", code(command_on(found.verify, diagnosis.input)));
  for (const RankedFinding& other : ranked.alternatives)
    out += row("also", "alternative", alternative(other, diagnosis));
  return out + "</dl></article>\n";
}

std::string quick_wins_line(const Diagnosis& diagnosis) {
  const std::vector<std::size_t> order = quick_wins(diagnosis);
  if (order.empty()) return {};
  std::string out =
      "<p>" + term_link("quick win", "Quick wins") + ", most saving per effort first:";
  for (const std::size_t i : order) {
    const std::string number = std::to_string(diagnosis.findings[i].number);
    out.append(" <a href=\"#finding-").append(number).append("\">").append(number).append("</a>");
  }
  return out + "</p>\n";
}

/// What the first findings save together, by one replay.
std::string together_line(const Diagnosis& diagnosis) {
  if (!diagnosis.together) return {};
  return "<p>" + term_link("together", "Together") + ": " +
         escaped(together_text(*diagnosis.together)) + "</p>\n";
}

}  // namespace

std::string findings(const Diagnosis& diagnosis) {
  std::string cards;
  for (const RankedFinding& found : diagnosis.findings) {
    if (found.part != FindingPart::capture) cards += finding(found, diagnosis);
  }
  if (cards.empty()) return "<p>No rule found anything to change.</p>\n";
  return quick_wins_line(diagnosis) + together_line(diagnosis) + cards;
}

std::string remarks(const Diagnosis& diagnosis) {
  std::string out;
  for (const RankedFinding& found : diagnosis.findings) {
    if (found.part == FindingPart::capture) out += finding(found, diagnosis);
  }
  return out.empty() ? out : "<h3>Remarks on the recording</h3>\n" + out;
}

std::string rules(const Diagnosis& diagnosis) {
  std::string out = "<dl>";
  for (const RuleResult& result : diagnosis.rules) {
    const Rule& rule = *find_rule(result.rule);
    std::string said = result.kind == RuleResult::Kind::found    ? "found"
                       : result.kind == RuleResult::Kind::silent ? "nothing found"
                                                                 : "abstained: " + result.reason;
    out += "<dt id=\"rule-" + std::string(rule.id) + "\"><code>" + std::string(rule.id) +
           "</code> <span class=\"soft\">" + escaped(said) + "</span></dt><dd>" +
           escaped(rule.doc) + "</dd>\n";
  }
  return out + "</dl>\n";
}

}  // namespace fathom::page
