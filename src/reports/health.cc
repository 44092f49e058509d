// health: is the capture complete, and are its numbers true?
#include "analysis/health/health.h"

#include <optional>
#include <string_view>
#include <utility>

#include "reports/report.h"

namespace fathom {
namespace health_report {
namespace {

using Checks = ReportRows<HealthCheck>;

std::optional<double> share_of(const HealthCheck& check) {
  const double share = check.share_percent();
  return share < 0 ? std::nullopt : std::optional(share);
}

constexpr Checks::Column kColumns[] = {
    {"section", ColumnKind::text, "",
     "What the check is about: reading, links, time, structure, steps, recording.",
     [](const HealthCheck& check) { return std::string_view(check.section); }},
    {"check", ColumnKind::text, "", "Stable name of the check.",
     [](const HealthCheck& check) { return std::string_view(check.id); }},
    {"status", ColumnKind::text, "",
     "ok, note (no number is wrong), warning (some numbers are less true than they look), bad (do "
     "not trust them), "
     "or not applicable.",
     [](const HealthCheck& check) { return to_string(check.status); }},
    {"count", ColumnKind::count, "", "How many were found.", by<&HealthCheck::count>},
    {"of", ColumnKind::count, "", "Out of how many; null where a share makes no sense.",
     [](const HealthCheck& check) {
       return check.of == 0 ? std::nullopt : std::optional(check.of);
     }},
    {"share_percent", ColumnKind::percent, "percent", "Share of what was looked at.", by<share_of>},
    {"finding", ColumnKind::text, "", "What was found and what it means, as a sentence.",
     [](const HealthCheck& check) { return made_or_null(check.sentence()); }},
    {"affects", ColumnKind::text, "", "The numbers that this makes less trustworthy.",
     [](const HealthCheck& check) { return text_or_null(check.affects); }},
    {"example", ColumnKind::text, "",
     "The first one: its name and time, or its byte in the uncompressed file.",
     [](const HealthCheck& check) { return text_or_null(check.example); }},
    {"advice", ColumnKind::text, "", "What to do about it.",
     [](const HealthCheck& check) { return text_or_null(check.advice); }},
};

Result<Checks> compute(const Context& context) {
  Health health = compute_health(context);
  Checks checks;
  checks.notes.push_back("capture: " + health.summary());
  checks.rows = std::move(health.checks);
  return checks;
}

Report report() {
  return report_of<kColumns, compute>(
      {.id = "health",
       .title = "Is the capture complete, and are its numbers true?",
       .doc = "One row per check of the whole recording: what was looked "
              "for, how often it "
              "was found, which numbers it makes untrustworthy, and what to do. Repairs made while "
              "reading are rows "
              "of the section reading, one per kind.",
       .group_by = {},
       .sort = "",
       .example = "fathom health trace.json.gz",
       .whole = true});
}

}  // namespace
}  // namespace health_report

Report health() { return health_report::report(); }

}  // namespace fathom
