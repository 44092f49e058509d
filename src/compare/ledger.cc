// Writes and reads the lines of a ledger.
#include "compare/ledger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <simdjson.h>

#include "base/json_result.h"
#include "base/json_writer.h"
#include "base/text_fields.h"
#include "stats/summary.h"

namespace fathom {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kSchema = "fathom.ledger/1";
constexpr std::size_t kOutcomes = 4;

std::optional<VerifyOutcome> outcome_named(std::string_view name) {
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<VerifyOutcome>(i);
    if (to_string(outcome) == name) return outcome;
  }
  return std::nullopt;
}

/// A number; or null where nothing was measured, and so nothing decided.
bool read_measured(const element& from, LedgerEntry& entry) {
  if (from.is_null()) return entry.outcome == VerifyOutcome::cannot_tell;
  double ratio = 0;
  if (!get_json(from.get<double>(), ratio)) return false;
  entry.measured = ratio;
  return true;
}

std::optional<LedgerEntry> entry_in(simdjson::dom::parser& parser, std::string_view line) {
  element document;
  object from;
  std::string_view text;
  array findings;
  LedgerEntry entry;
  if (!get_json(parser.parse(line.data(), line.size()), document) ||
      !get_json(document.get<object>(), from) ||
      !get_json(from["schema"].get<std::string_view>(), text) || text != kSchema)
    return std::nullopt;
  if (!get_json(from["when"].get<std::string_view>(), text)) return std::nullopt;
  entry.when = text;
  if (!get_json(from["findings"].get<array>(), findings) || findings.size() == 0)
    return std::nullopt;
  for (const element each : findings) {
    if (!get_json(each.get<std::string_view>(), text)) return std::nullopt;
    entry.findings.emplace_back(text);
  }
  const bool numbers = get_json(from["low"].get<double>(), entry.low) &&
                       get_json(from["likely"].get<double>(), entry.likely) &&
                       get_json(from["high"].get<double>(), entry.high);
  if (!numbers || !get_json(from["outcome"].get<std::string_view>(), text)) return std::nullopt;
  const std::optional<VerifyOutcome> outcome = outcome_named(text);
  if (!outcome) return std::nullopt;
  entry.outcome = *outcome;
  element measured;
  if (!get_json(from["measured"], measured) || !read_measured(measured, entry)) return std::nullopt;
  return entry;
}

/// The rules of an entry, each once.
std::set<std::string> rules_of(const LedgerEntry& entry) {
  std::set<std::string> rules;
  for (const std::string& finding : entry.findings)
    rules.insert(finding.substr(0, finding.find('/')));
  return rules;
}

}  // namespace

std::string ledger_line(const Verification& verification, std::string_view when) {
  std::string out;
  JsonWriter json(out, kJsonInline);
  const PredictedSaving& prediction = verification.prediction;
  json.object().member("schema", kSchema).member("when", when);
  json.key("findings").texts(prediction.findings);
  json.key("base").texts(verification.base);
  json.key("new").texts(verification.now);
  json.member("low", prediction.low)
      .member("likely", prediction.likely)
      .member("high", prediction.high)
      .member("measured", verification.ratio());
  json.key("interval");
  if (verification.interval) {
    json.array().real(verification.interval->low).real(verification.interval->high).end();
  } else {
    json.null();
  }
  json.member("outcome", to_string(verification.outcome)).end();
  return out + "\n";
}

PredictionLedger parse_ledger(std::string_view text) {
  PredictionLedger ledger;
  simdjson::dom::parser parser;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
    if (std::optional<LedgerEntry> entry = entry_in(parser, line)) {
      ledger.entries.push_back(std::move(*entry));
    } else {
      ++ledger.unreadable;
    }
  }
  return ledger;
}

std::vector<LedgerRow> ledger_rows(const PredictionLedger& ledger) {
  std::map<std::string, LedgerRow> rows;
  std::map<std::string, std::vector<double>> shares;
  for (const LedgerEntry& entry : ledger.entries) {
    for (const std::string& rule : rules_of(entry)) {
      LedgerRow& row = rows[rule];
      row.rule = rule;
      ++row.count[static_cast<std::size_t>(entry.outcome)];
      if (!entry.measured) continue;
      row.inside += entry.low <= *entry.measured && *entry.measured <= entry.high ? 1 : 0;
      if (entry.outcome != VerifyOutcome::cannot_tell && entry.likely < 1)
        shares[rule].push_back((1 - *entry.measured) / (1 - entry.likely));
    }
  }
  std::vector<LedgerRow> out;
  for (auto& [rule, row] : rows) {
    std::vector<double>& of_rule = shares[rule];
    std::ranges::sort(of_rule);
    row.median_share = quantile(of_rule, 0.5);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace fathom
