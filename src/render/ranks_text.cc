// Writes the comparison of ranks as text.
#include "render/ranks_text.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/quantity_text.h"
#include "render/finding_text.h"

namespace fathom {
namespace {

constexpr std::size_t kMostShown = 4;
/// Recordings that could not be read, where all is shown: as many as JSON has.
constexpr std::size_t kMostMissing = 50;

std::string called(const RankRow& row) {
  return row.rank ? "rank " + std::to_string(*row.rank) : row.input;
}

std::string head(const Ranks& ranks) {
  std::string text = std::to_string(ranks.rows.size()) + "; " +
                     called(ranks.rows[ranks.diagnosed]) + " is diagnosed, " + ranks.why;
  // Recordings of one process have no rank, and nobody is late.
  if (!ranks.rows.front().rank) return text;
  if (ranks.compared == 0) {
    text += "; they have no equal collectives, so no late rank can be found";
  } else if (!ranks.late) {
    text += "; none of them is late for long";
  } else if (*ranks.late != ranks.diagnosed) {
    text += "; the others wait for " + called(ranks.rows[*ranks.late]);
  }
  return text;
}

std::string row_text(const RankRow& row) {
  std::string text = called(row) + ": " + duration_text(row.step) + " per step";
  if (row.communication > Duration{}) {
    text += ", communicates for " + duration_text(row.communication);
    if (row.waited > Duration{}) text += ", " + duration_text(row.waited) + " of it waiting";
  }
  if (row.made_wait > Duration{}) text += ", makes others wait for " + duration_text(row.made_wait);
  return text + "; " + std::string(row.verdict);
}

/// The diagnosed one, those that make others wait longest, and those with the longest steps.
std::vector<std::size_t> shown(const Ranks& ranks, bool all) {
  std::vector<std::size_t> order(ranks.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (all || order.size() <= kMostShown) return order;
  std::ranges::stable_sort(order, [&ranks](std::size_t a, std::size_t b) {
    if ((a == ranks.diagnosed) != (b == ranks.diagnosed)) return a == ranks.diagnosed;
    const RankRow& left = ranks.rows[a];
    const RankRow& right = ranks.rows[b];
    if (left.made_wait != right.made_wait) return left.made_wait > right.made_wait;
    return left.step > right.step;
  });
  order.resize(kMostShown);
  std::ranges::sort(order);
  return order;
}

}  // namespace

std::string ranks_lines(const Ranks& ranks, bool all, const Style& style) {
  std::string out =
      paragraph(ranks.rows.front().rank ? "All ranks" : "Recordings", head(ranks), style);
  const std::vector<std::size_t> rows = shown(ranks, all);
  for (const std::size_t row : rows) out += paragraph("", row_text(ranks.rows[row]), style);
  if (rows.size() < ranks.rows.size()) {
    out +=
        paragraph("", std::to_string(ranks.rows.size() - rows.size()) + " more, see --all", style);
  }
  const std::size_t missing = std::min(ranks.missing.size(), all ? kMostMissing : kMostShown);
  for (std::size_t i = 0; i < missing; ++i) out += paragraph("", ranks.missing[i], style);
  if (missing < ranks.missing.size()) {
    out += paragraph(
        "", std::to_string(ranks.missing.size() - missing) + " more recordings could not be read",
        style);
  }
  if (all && ranks.not_compared > 0) {
    out += paragraph("",
                     std::to_string(ranks.compared) + " collectives are on several ranks; " +
                         std::to_string(ranks.not_compared) +
                         " calls are not on all of them, or not as often",
                     style);
  }
  return out;
}

}  // namespace fathom
