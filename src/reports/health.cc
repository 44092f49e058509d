// health: is the capture complete, and are its numbers true?
#include "analysis/health/health.h"

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"section", ColumnKind::text, "",
     "What the check is about: reading, links, time, structure, steps, recording."},
    {"check", ColumnKind::text, "", "Stable name of the check."},
    {"status", ColumnKind::text, "",
     "ok, note (no number is wrong), warning (some numbers are less true than they look), bad (do "
     "not trust them), "
     "or not applicable."},
    {"count", ColumnKind::count, "", "How many were found."},
    {"of", ColumnKind::count, "", "Out of how many; null where a share makes no sense."},
    {"share_percent", ColumnKind::percent, "percent", "Share of what was looked at."},
    {"finding", ColumnKind::text, "", "What was found and what it means, as a sentence."},
    {"affects", ColumnKind::text, "", "The numbers that this makes less trustworthy."},
    {"example", ColumnKind::text, "",
     "The first one: its name and time, or its byte in the uncompressed file."},
    {"advice", ColumnKind::text, "", "What to do about it."},
};

std::vector<Value> row_of(const HealthCheck& check) {
  const double share = check.share_percent();
  return {text_value(check.section),
          text_value(check.id),
          text_value(to_string(check.status)),
          int_value(check.count),
          check.of == 0 ? Value() : int_value(check.of),
          share < 0 ? Value() : Value(share),
          text_or_null(check.sentence()),
          text_or_null(check.affects),
          text_or_null(check.example),
          text_or_null(check.advice)};
}

Result<Table> compute(const Context& context) {
  const Health health = compute_health(context);
  Table table;
  for (const HealthCheck& check : health.checks) table.rows.push_back(row_of(check));
  table.notes.push_back("capture: " + health.summary());
  return table;
}

}  // namespace

Report health() {
  return {.id = "health",
          .title = "Is the capture complete, and are its numbers true?",
          .doc =
              "One row per check of the whole recording: what was looked "
              "for, how often it "
              "was found, which numbers it makes untrustworthy, and what to do. Repairs made while "
              "reading are rows "
              "of the section reading, one per kind.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom health trace.json.gz",
          .compute = compute,
          .whole = true};
}

}  // namespace fathom
