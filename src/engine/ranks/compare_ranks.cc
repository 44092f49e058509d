// Compares equal collectives of the ranks: the rank with the shortest call came last.
#include "engine/ranks/compare_ranks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/quantity_text.h"

namespace fathom {
namespace {

/// Differences below this are start-up skew, not a late rank (as in the rule late-rank).
constexpr Duration kLeastWait = duration_ns(20'000);
/// From this part of the step on a rank is called late, and from this one on it is the verdict
/// (TraceML's straggler score warns at 10 %).
constexpr double kLatePercent = 5.0;
constexpr double kStragglerPercent = 10.0;
/// It must have made the others wait for at least this part of all waiting: else whoever comes last
/// changes from step to step, which is no rank's fault.
constexpr double kOneOfAll = 0.5;

using Place = std::pair<std::int64_t, std::uint64_t>;  // step, key
struct Stretch {
  std::size_t recording = 0;
  const RankCall* first = nullptr;
  std::size_t count = 0;
};

Duration mean_step(const Diagnosis& diagnosis) {
  return duration_ns(std::llround(diagnosis.usual_ns.mean));
}

std::string called(const RankRow& row) {
  return row.rank ? "rank " + std::to_string(*row.rank) : row.input;
}

std::string capital(std::string text) {
  if (text.starts_with("rank ")) text.front() = 'R';
  return text;
}

/// The calls of each step and kind, of every recording that has some.
std::map<Place, std::vector<Stretch>> by_place(const std::vector<RankDiagnosis>& recordings) {
  std::map<Place, std::vector<Stretch>> places;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    for (const RankCall& call : recordings[i].diagnosis.rank_calls.calls) {
      std::vector<Stretch>& stretches = places[{call.step, call.key}];
      if (stretches.empty() || stretches.back().recording != i)
        stretches.push_back({.recording = i, .first = &call});
      ++stretches.back().count;
    }
  }
  return places;
}

/// Are these calls of different ranks, equally many of each?
bool comparable(const std::vector<Stretch>& stretches,
                const std::vector<RankDiagnosis>& recordings) {
  std::set<std::int64_t> ranks;
  for (const Stretch& stretch : stretches) {
    const std::optional<std::int64_t>& rank = recordings[stretch.recording].rank.number;
    const std::int64_t of = rank ? *rank : -1 - static_cast<std::int64_t>(stretch.recording);
    if (stretch.count != stretches.front().count || !ranks.insert(of).second) return false;
  }
  return stretches.size() > 1;
}

void add_wait(RankRow& row, std::int64_t step, Duration wait) {
  if (wait == Duration{}) return;
  row.waited += wait;
  if (row.waits.empty() || row.waits.back().step != step) row.waits.push_back({.step = step});
  row.waits.back().waited += wait;
}

/// Credits one collective: who came last, how long each of the others waited, and the longest.
/// Steps ascend.
void credit(const std::vector<Stretch>& stretches, std::size_t number, std::vector<RankRow>& rows) {
  const auto length = [number](const Stretch& stretch) { return stretch.first[number].length; };
  const Stretch& last = *std::ranges::min_element(stretches, {}, length);
  Duration longest{};
  for (const Stretch& stretch : stretches) {
    const Duration later = length(stretch) - length(last);
    if (later < kLeastWait) continue;
    const Duration wait = std::min(later, stretch.first[number].exposed);
    add_wait(rows[stretch.recording], stretch.first->step, wait);
    longest = std::max(longest, wait);
  }
  if (longest == Duration{}) return;
  rows[last.recording].made_wait += longest;
  ++rows[last.recording].last;
}

void compare(const std::vector<RankDiagnosis>& recordings, Ranks& ranks) {
  for (const RankDiagnosis& one : recordings)
    ranks.not_compared += one.diagnosis.rank_calls.messages;
  for (const auto& [place, stretches] : by_place(recordings)) {
    if (!comparable(stretches, recordings)) {
      for (const Stretch& stretch : stretches) ranks.not_compared += stretch.count;
      continue;
    }
    ranks.compared += stretches.front().count;
    for (std::size_t number = 0; number < stretches.front().count; ++number)
      credit(stretches, number, ranks.rows);
  }
}

RankRow row_of(const RankDiagnosis& one) {
  RankRow row;
  row.input = one.diagnosis.input;
  row.rank = one.rank.number;
  row.step = mean_step(one.diagnosis);
  row.communication = one.diagnosis.rank_calls.exposed;
  row.verdict = to_string(one.diagnosis.verdict.id);
  row.verdict_words = one.diagnosis.verdict.sentence;
  return row;
}

/// The exposed communication of each step on the device, as far as steps are known.
std::map<std::int64_t, Duration> communication_by_step(const Diagnosis& diagnosis) {
  std::map<std::int64_t, Duration> steps;
  if (diagnosis.device < 0) return steps;
  for (const StepAccount& step : diagnosis.steps)
    steps[step.number] += step.account[Bucket::communication];
  return steps;
}

/// Collectives that run at the same time wait at the same time: nobody waits for longer than it
/// communicates.
void count_waiting_once(const std::vector<RankDiagnosis>& recordings, Ranks& ranks) {
  for (std::size_t i = 0; i < ranks.rows.size(); ++i) {
    const std::map<std::int64_t, Duration> known = communication_by_step(recordings[i].diagnosis);
    for (RankWait& wait : ranks.rows[i].waits) {
      const auto step = known.find(wait.step);
      if (step != known.end()) wait.waited = std::min(wait.waited, step->second);
    }
  }
  for (RankRow& row : ranks.rows) row.waited = std::min(row.waited, row.communication);
  for (RankRow& row : ranks.rows) {
    Duration most{};
    for (const RankRow& other : ranks.rows)
      if (&other != &row) most = std::max(most, other.communication);
    row.made_wait = std::min(row.made_wait, most);
  }
}

/// Sums become times per step.
void divide_by_steps(const std::vector<RankDiagnosis>& recordings, Ranks& ranks) {
  for (std::size_t i = 0; i < ranks.rows.size(); ++i) {
    const auto steps =
        static_cast<std::int64_t>(std::max<std::size_t>(recordings[i].diagnosis.usual_ns.count, 1));
    RankRow& row = ranks.rows[i];
    row.waited /= steps;
    row.communication /= steps;
    row.made_wait /= steps;
  }
}

void find_late(Ranks& ranks) {
  Duration all{};
  Duration steps{};
  for (const RankRow& row : ranks.rows) {
    all += row.made_wait;
    steps += row.step;
  }
  const auto most = std::ranges::max_element(ranks.rows, {}, &RankRow::made_wait);
  if (steps == Duration{}) return;
  const double mean = static_cast<double>(to_ns(steps)) / static_cast<double>(ranks.rows.size());
  const auto made = static_cast<double>(to_ns(most->made_wait));
  ranks.late_percent = 100.0 * made / mean;
  if (ranks.late_percent < kLatePercent || made < kOneOfAll * static_cast<double>(to_ns(all)))
    return;
  ranks.late = static_cast<std::size_t>(most - ranks.rows.begin());
}

Result<void> choose(Ranks& ranks, std::optional<std::int64_t> rank) {
  if (rank) {
    const auto at = std::ranges::find(ranks.rows, rank, &RankRow::rank);
    if (at == ranks.rows.end()) {
      std::string there;
      for (const RankRow& row : ranks.rows) there += (there.empty() ? "" : ", ") + called(row);
      return Error{ErrorCode::invalid_argument,
                   "there is no rank " + std::to_string(*rank) + "; there is " + there};
    }
    ranks.diagnosed = static_cast<std::size_t>(at - ranks.rows.begin());
    ranks.why = "asked for";
  } else if (ranks.late) {
    ranks.diagnosed = *ranks.late;
    ranks.why = "the others wait for it";
  } else {
    ranks.diagnosed = static_cast<std::size_t>(
        std::ranges::max_element(ranks.rows, {}, &RankRow::step) - ranks.rows.begin());
    ranks.why = "its steps are longest";
  }
  return {};
}

/// What bounds the program: no rank is faster than the one that it waits for.
void judge_all(Diagnosis& diagnosis) {
  const Ranks& ranks = *diagnosis.ranks;
  if (!ranks.late || ranks.late_percent < kStragglerPercent) return;
  const RankRow& late = ranks.rows[*ranks.late];
  diagnosis.verdict.id = VerdictId::straggler;
  diagnosis.verdict.sentence =
      capital(called(late)) + " comes last: others wait for it in collectives for " +
      duration_text(late.made_wait) + " of each step (" + percent_text(ranks.late_percent) +
      "). By itself it is " + std::string(late.verdict) + ": " + late.verdict_words;
}

}  // namespace

std::vector<Rank> ranks_of(const std::vector<RankDiagnosis>& recordings) {
  std::vector<Rank> ranks;
  ranks.reserve(recordings.size());
  for (const RankDiagnosis& one : recordings) ranks.push_back(one.rank);
  return ranks;
}

Result<Diagnosis> compare_ranks(std::string input, std::vector<RankDiagnosis> recordings,
                                std::optional<std::int64_t> rank, std::size_t& at) {
  if (recordings.empty())
    return Error{ErrorCode::invalid_argument, input + ": there is nothing to compare"};
  std::vector<std::size_t> order(recordings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const std::optional<std::int64_t>& number = recordings[i].rank.number;
    return std::pair(!number, number.value_or(0));
  });
  std::vector<RankDiagnosis> sorted;
  sorted.reserve(recordings.size());
  for (const std::size_t i : order) sorted.push_back(std::move(recordings[i]));
  Ranks ranks;
  for (const RankDiagnosis& one : sorted) ranks.rows.push_back(row_of(one));
  compare(sorted, ranks);
  count_waiting_once(sorted, ranks);
  divide_by_steps(sorted, ranks);
  find_late(ranks);
  Result<void> chosen = choose(ranks, rank);
  if (!chosen) return std::move(chosen).error();
  at = order[ranks.diagnosed];
  Diagnosis diagnosis = std::move(sorted[ranks.diagnosed].diagnosis);
  diagnosis.input = std::move(input);
  diagnosis.ranks = std::move(ranks);
  judge_all(diagnosis);
  return diagnosis;
}

}  // namespace fathom
