// The ledger: what became of predictions, a line of JSON for each verification.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/verification.h"

namespace fathom {

struct LedgerEntry {
  std::string when;                   ///< UTC.
  std::vector<std::string> findings;  ///< Ids.
  double low = 1;                     ///< Step after by step before: predicted,
  double likely = 1;
  double high = 1;
  std::optional<double> measured;  ///< and measured; unset where a side has no step time.
  VerifyOutcome outcome = VerifyOutcome::cannot_tell;
};

struct PredictionLedger {
  std::vector<LedgerEntry> entries;
  std::size_t unreadable = 0;  ///< Lines that are none of ours, or of a newer version.
};

/// The line for a verification, with its newline. Schema fathom.ledger/1. It holds no more than
/// what was predicted and measured, and of which recordings.
std::string ledger_line(const Verification& verification, std::string_view when);

/// Reads lines; those that cannot be read are counted. O(n).
PredictionLedger parse_ledger(std::string_view text);

/// What the entries of one rule came to.
struct LedgerRow {
  std::string rule;
  std::size_t count[4] = {};  ///< By VerifyOutcome.
  /// Median over the entries that are decided of measured saving by likely saving; 1 is exact.
  double median_share = 0;
  std::size_t inside = 0;  ///< Measured between the predicted ends.
};

/// By rule, in their order; an entry of several rules counts for each of them.
std::vector<LedgerRow> ledger_rows(const PredictionLedger& ledger);

}  // namespace fathom
