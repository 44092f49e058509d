// Writes checked budgets as JSON.
#include "render/check_json.h"

#include "base/json_writer.h"
#include "render/compare_json_parts.h"

namespace fathom {
namespace {

std::string_view unit_of(const Budget& budget) {
  switch (budget.metric->kind) {
    case QuantityKind::duration:
      return "ns";
    case QuantityKind::bytes:
      return "bytes";
    default:
      return budget.metric->id == "flops" ? "flops" : "count";
  }
}

void write_budget(JsonWriter& json, const CheckedBudget& checked) {
  json.object(kJsonInline)
      .member("budget", checked.budget.text)
      .member("metric", checked.budget.metric->id)
      .member("unit", unit_of(checked.budget))
      .member("result", to_string(checked.judgement));
  json.key("rank");
  if (checked.rank == kAbsent) {
    json.null();
  } else {
    json.integer(checked.rank);
  }
  json.member("base", checked.base).member("new", checked.now).member("limit", checked.limit);
  json.key("interval");
  if (checked.interval) {
    json.array(kJsonInline).real(checked.interval->low).real(checked.interval->high).end();
  } else {
    json.null();
  }
  if (checked.estimate) json.member("estimate", *checked.estimate);
  json.member("basis", checked.basis).member("reason", checked.reason).end();
}

void write_check(JsonWriter& json, const Check& check) {
  json.object(kJsonLines).member("reference", check.reference).member("saved", check.when);
  json.key("base").texts(check.base);
  write_differs(json, check.differs);
  json.key("budgets").array(kJsonLines);
  for (const CheckedBudget& budget : check.budgets) write_budget(json, budget);
  json.end().end();
}

}  // namespace

std::string render_check_json(const CheckedRuns& checked, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object()
      .member("schema", "fathom.check/1")
      .member("result", to_string(checked.judgement()))
      .member("within", checked.count(Judgement::within))
      .member("over", checked.count(Judgement::over))
      .member("cannot_tell", checked.count(Judgement::undecided));
  json.key("new").texts(checked.now);
  json.key("checks").array(kJsonLines);
  for (const Check& check : checked.checks) write_check(json, check);
  json.end().end();
  return out;
}

}  // namespace fathom
