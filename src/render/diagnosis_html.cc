#include "render/diagnosis_html.h"

#include <cmath>

#include "base/quantity_text.h"
#include "render/page/assets.h"
#include "render/page/charts.h"
#include "render/page/html.h"
#include "render/page/tables.h"

namespace fathom {
namespace {

using page::escaped;

Duration from_ns(double ns) { return duration_ns(static_cast<std::int64_t>(std::llround(ns))); }

std::string fact(const std::string& value, std::string_view name) {
  return "<div><b>" + escaped(value) + "</b><span>" + escaped(name) + "</span></div>";
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
  return rows.empty() ? out : out + "<ul>" + rows + "</ul>\n";
}

std::string baseline(const Diagnosis& diagnosis, const Page& page) {
  const Summary& step = diagnosis.step_ns;
  std::string out = "<div class=\"facts\">";
  out += fact(duration_text(from_ns(step.median)), "median step");
  out += fact(duration_text(from_ns(step.mean)), "mean step");
  out += fact(duration_text(from_ns(step.min)) + " – " + duration_text(from_ns(step.max)),
              "shortest – longest");
  out += fact(std::to_string(step.count),
              "steps counted, " + std::to_string(diagnosis.steps_left_out) + " left out");
  if (diagnosis.device >= 0) {
    out += fact(
        diagnosis.device_name.empty() ? std::to_string(diagnosis.device) : diagnosis.device_name,
        "device " + std::to_string(diagnosis.device));
  }
  out += "</div>\n<h3>Step time</h3>\n" + page::step_chart(diagnosis);
  if (!diagnosis.step_note.empty())
    out += "<p class=\"note\">" + escaped(diagnosis.step_note) + "</p>";
  out += "<details><summary>Conditions</summary><table>";
  for (const auto& [name, value] : page.conditions) {
    out +=
        "<tr><td>" + escaped(name) + "</td><td class=\"name\">" + escaped(value) + "</td></tr>\n";
  }
  return out + "</table></details>\n";
}

std::string bottleneck(const Diagnosis& diagnosis) {
  std::string out = "<p class=\"verdict\"><b>" + std::string(to_string(diagnosis.verdict.id)) +
                    "</b> — " + escaped(diagnosis.verdict.sentence) + "</p>\n";
  out += page::accounting_bar(diagnosis);
  if (!diagnosis.verdict.families.empty()) {
    out +=
        "<details><summary>What each family could give back at most</summary><table>"
        "<tr><th>family</th><th>per step</th><th>of the step</th></tr>";
    for (const FamilyTime& family : diagnosis.verdict.families) {
      out += "<tr><td>" + std::string(to_string(family.family)) + "</td><td class=\"number\">" +
             duration_text(family.per_step) + "</td><td class=\"number\">" +
             percent_text(family.percent) + "</td></tr>\n";
    }
    out += "</table></details>\n";
  }
  return out;
}

std::string gain(const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const double mean = diagnosis.step_ns.mean;
  const auto percent = [mean](Duration time) {
    return percent_text(100.0 * static_cast<double>(to_ns(time)) / mean);
  };
  if (ranked.gain && to_ns(ranked.gain->likely) > 0) {
    const double after = mean - static_cast<double>(to_ns(ranked.gain->likely));
    return "<span class=\"gain\">−" + percent(ranked.gain->likely) + "</span> (" +
           percent(ranked.gain->low) + " to " + percent(ranked.gain->high) +
           "): " + duration_text(from_ns(mean)) + " → " + duration_text(from_ns(after));
  }
  if (to_ns(ranked.upper_bound) > 0) return "at most −" + percent(ranked.upper_bound);
  return "no time of its own";
}

std::string row(std::string_view name, const std::string& html) {
  return html.empty() ? std::string() : "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>\n";
}

std::string code(const std::string& text) {
  return text.empty() ? text : "<pre>" + escaped(text) + "</pre>";
}

std::string finding(std::size_t number, const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const Finding& found = ranked.finding;
  std::string out = "<article class=\"finding\" id=\"" + escaped(ranked.id) + "\"><h3>" +
                    std::to_string(number) + ". " + escaped(found.title) + "</h3>";
  out += "<span class=\"tag " + std::string(to_string(found.weight)) + "\">" +
         std::string(to_string(found.weight)) + "</span>";
  out += "<span class=\"tag\">confidence: " + std::string(to_string(found.confidence)) + "</span>";
  out += "<span class=\"tag\">effort: " + std::string(to_string(found.effort)) + "</span>";
  out += "<span class=\"tag\">quick win " + std::to_string(ranked.quick_win) + "</span>";
  out += "<span class=\"tag\"><a href=\"#rule-" + std::string(found.rule) + "\">" +
         std::string(found.rule) + "</a></span>";
  out += "<dl>" + row("gain", gain(ranked, diagnosis));
  for (const Evidence& evidence : found.evidence) {
    std::string text = escaped(evidence.text);
    if (!evidence.location.empty()) text += " — <code>" + escaped(evidence.location) + "</code>";
    if (evidence.where) {
      text +=
          " <span class=\"soft\">at " + duration_text(evidence.where->begin - Time{}) + "</span>";
    }
    out += row("evidence", text);
  }
  out += row("but", escaped(found.counter_evidence));
  out += row("change", escaped(found.fix.text));
  out += row("before", code(found.fix.before)) + row("after", code(found.fix.after));
  out += row("assumed", escaped(found.assumption));
  out += row("check", found.verify.empty() ? "" : "<code>" + escaped(found.verify) + "</code>");
  return out + "</dl></article>\n";
}

std::string findings(const Diagnosis& diagnosis) {
  std::string out;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    out += finding(i + 1, diagnosis.findings[i], diagnosis);
  }
  return out.empty() ? "<p>No rule found anything to change.</p>\n" : out;
}

std::string components(const Page& page) {
  std::string out;
  if (!page.strip.empty()) {
    out += "<h3>Step " + std::to_string(page.median.number) +
           ", the median: threads and streams</h3>\n" + page::timeline_strip(page);
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
    const bool open = &view == &page.tables.front();
    out += std::string("<details") + (open ? " open" : "") + "><summary>" +
           escaped(view.report->id) + " — " + escaped(view.report->title) + "</summary>\n" +
           page::table(view) + "</details>\n";
  }
  return out;
}

std::string rules(const Diagnosis& diagnosis) {
  std::string out = "<dl>";
  for (const RuleResult& result : diagnosis.rules) {
    const Rule& rule = *find_rule(result.rule);
    std::string said = result.kind == RuleResult::Kind::found    ? "found"
                       : result.kind == RuleResult::Kind::silent ? "nothing found"
                                                                 : "cannot tell: " + result.reason;
    out += "<dt id=\"rule-" + std::string(rule.id) + "\"><code>" + std::string(rule.id) +
           "</code> <span class=\"soft\">" + escaped(said) + "</span></dt><dd>" +
           escaped(rule.doc) + "</dd>\n";
  }
  return out + "</dl>\n";
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
  out += page::section("capture", "0 · Can the capture be trusted?", capture(diagnosis));
  out += page::section("baseline", "1 · Baseline", baseline(diagnosis, page));
  out += page::section("bottleneck", "2 · What bounds it", bottleneck(diagnosis));
  out += page::section("components", "3 · Where in the step", components(page));
  out += page::section("findings", "4 · What to change", findings(diagnosis));
  out += page::section("tables", "Tables", tables(page));
  out += page::section("rules", "Rules", rules(diagnosis));
  out += page::section("definitions", "Definitions", page::definitions(page.tables));
  out += "<script>";
  out += page::script();
  return out + "</script></body></html>\n";
}

}  // namespace fathom
