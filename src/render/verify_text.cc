// Lays out verifications and the ledger.
#include "render/verify_text.h"

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/quantity_text.h"
#include "render/charset.h"
#include "render/compare_rows.h"
#include "render/finding_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

std::string change(double ratio) { return signed_percent(100 * (ratio - 1)); }

std::string median_text(const std::optional<double>& ns) {
  return ns ? duration_text(duration_ns(std::llround(*ns))) : std::string("not recorded");
}

std::string some_inputs(const std::vector<std::string>& inputs) {
  std::string text = inputs.empty() ? std::string() : inputs.front();
  if (inputs.size() > 1) text += " and " + std::to_string(inputs.size() - 1) + " more";
  return text;
}

std::string coloured(VerifyOutcome outcome, const Style& style) {
  const std::string text(title_of(outcome));
  switch (outcome) {
    case VerifyOutcome::confirmed:
      return style.green(text);
    case VerifyOutcome::cannot_tell:
      return style.yellow(text);
    default:
      return style.red(text);
  }
}

std::string measured_text(const Verification& verification) {
  std::string text = median_text(verification.base_ns) + " → " + median_text(verification.now_ns);
  if (verification.ratio()) text += ", " + change(*verification.ratio());
  if (verification.by_pairs) text += ", " + change(*verification.by_pairs) + " by pairs";
  if (verification.interval)
    text += " (95 % interval " + change(verification.interval->low) + " to " +
            change(verification.interval->high) + ")";
  if (!verification.basis.empty()) text += ", " + verification.basis;
  return text;
}

}  // namespace

std::string render_verify_text(const Verification& verification, const Style& style) {
  const PredictedSaving& prediction = verification.prediction;
  std::string text =
      pad_right("Outcome", kLabelWidth) + coloured(verification.outcome, style) + "\n";
  for (std::size_t i = 0; i < prediction.findings.size(); ++i)
    text += paragraph(i == 0 ? "Finding" : "",
                      prediction.titles[i] + " (" + prediction.findings[i] + ")", style);
  text += paragraph("Predicted",
                    change(prediction.likely) + " (" + change(prediction.low) + " to " +
                        change(prediction.high) + ") of the mean step",
                    style);
  text += paragraph("Measured", measured_text(verification), style);
  if (!verification.reason.empty()) text += paragraph("Note", verification.reason, style);
  text += paragraph("Base", some_inputs(verification.base), style);
  text += paragraph("New", some_inputs(verification.now), style);
  return in_charset(text, style);
}

std::string render_verify_json(const Verification& verification, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  const PredictedSaving& prediction = verification.prediction;
  json.object()
      .member("schema", "fathom.verify/1")
      .member("outcome", to_string(verification.outcome));
  json.key("findings").array(kJsonLines);
  for (std::size_t i = 0; i < prediction.findings.size(); ++i)
    json.object(kJsonInline)
        .member("id", prediction.findings[i])
        .member("title", prediction.titles[i])
        .end();
  json.end();
  json.key("predicted")
      .object(kJsonInline)
      .member("low", prediction.low)
      .member("likely", prediction.likely)
      .member("high", prediction.high)
      .end();
  json.key("measured").object(kJsonInline).member("ratio", verification.ratio()).key("interval");
  if (verification.interval) {
    json.array().real(verification.interval->low).real(verification.interval->high).end();
  } else {
    json.null();
  }
  json.member("by_pairs", verification.by_pairs)
      .member("base_ns", verification.base_ns)
      .member("new_ns", verification.now_ns)
      .member("basis", verification.basis)
      .end();
  json.member("reason", verification.reason);
  json.key("base").array(kJsonInline);
  for (const std::string& input : verification.base) json.text(input);
  json.end().key("new").array(kJsonInline);
  for (const std::string& input : verification.now) json.text(input);
  json.end().end();
  return out;
}

std::string render_ledger_text(const PredictionLedger& ledger, const Style& style) {
  const std::vector<LedgerRow> rows = ledger_rows(ledger);
  std::size_t widest = 4;
  for (const LedgerRow& row : rows) widest = std::max(widest, display_width(printable(row.rule)));
  widest = std::min<std::size_t>(widest, 48);
  std::string text = style.bold(pad_right("rule", widest) +
                                "  confirmed  less  refuted  cannot tell  within ends  of likely") +
                     "\n";
  for (const LedgerRow& row : rows) {
    const std::size_t all = row.count[0] + row.count[1] + row.count[2] + row.count[3];
    const bool judged = all > row.count[3];
    text += pad_right(shorten_middle(printable(row.rule), widest), widest) +
            pad_left(std::to_string(row.count[0]), 11) + pad_left(std::to_string(row.count[1]), 6) +
            pad_left(std::to_string(row.count[2]), 9) + pad_left(std::to_string(row.count[3]), 13) +
            pad_left(std::to_string(row.inside) + "/" + std::to_string(all), 13) +
            pad_left(judged ? percent_text(100 * row.median_share) : std::string(kNoValue), 11) +
            "\n";
  }
  text += paragraph("",
                    std::to_string(ledger.entries.size()) +
                        (ledger.entries.size() == 1 ? " verification" : " verifications") +
                        ". \"of likely\": median of the measured saving by the "
                        "likely one, of those that could be judged.",
                    style);
  if (ledger.unreadable > 0)
    text += paragraph("Note",
                      ledger.unreadable == 1
                          ? "1 line is no entry of this version and is left out."
                          : std::to_string(ledger.unreadable) +
                                " lines are no entries of this version and are left out.",
                      style);
  return in_charset(text, style);
}

std::string render_ledger_json(const PredictionLedger& ledger, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object()
      .member("schema", "fathom.ledger-summary/1")
      .member("entries", ledger.entries.size())
      .member("unreadable", ledger.unreadable);
  json.key("rules").array(kJsonLines);
  for (const LedgerRow& row : ledger_rows(ledger)) {
    json.object(kJsonInline).member("rule", row.rule);
    for (std::size_t i = 0; i < 4; ++i)
      json.member(to_string(static_cast<VerifyOutcome>(i)), row.count[i]);
    const bool judged = row.count[0] + row.count[1] + row.count[2] > 0;
    json.member("inside", row.inside)
        .member("median_share", judged ? std::optional(row.median_share) : std::nullopt)
        .end();
  }
  json.end().end();
  return out;
}

}  // namespace fathom
