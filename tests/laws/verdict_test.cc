// The verdict, its sentence, the bar and the accounting say the same numbers; no finding claims
// more than there is.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/structure/nesting.h"
#include "base/quantity_text.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/ranks/diagnose_ranks.h"
#include "engine/session.h"
#include "formats/format.h"
#include "render/account_bar.h"
#include "render/text.h"
#include "rules/common/claims.h"
#include "tests/support/json_rows.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

/// By the name of a bucket.
using Sums = std::map<std::string, Duration>;

Duration of(const Sums& sums, std::string_view bucket) {
  const auto at = sums.find(std::string(bucket));
  return at == sums.end() ? Duration{} : at->second;
}
Duration of(const Sums& sums, Bucket bucket) { return of(sums, to_string(bucket)); }
Duration of(const Sums& sums, HostBucket bucket) { return of(sums, to_string(bucket)); }

/// What `fathom accounting --group-by step` says of these steps. Where no step is of a process that
/// uses the device it says nothing by step, and what it says of the whole is of the one step.
Sums reported(const Session& session, const Diagnosis& diagnosis,
              const std::set<std::int64_t>& steps) {
  const bool on_device = diagnosis.device >= 0;
  const auto sums_by = [&](std::string_view grouping) {
    Sums sums;
    for (const JsonRow row : JsonRows(session, "accounting", grouped_by(grouping))) {
      const std::optional<std::int64_t> device = integer_of(row, "device");
      if (on_device ? device != diagnosis.device : device.has_value()) continue;
      if (grouping == "step" && !steps.contains(time_of(row, "step"))) continue;
      sums[text_of(row, "bucket")] += duration_ns(time_of(row, "time_ns"));
    }
    return sums;
  };
  Sums sums = sums_by("step");
  return sums.empty() && diagnosis.steps.size() == 1 ? sums_by("device") : sums;
}

/// What belongs to each family: of a device, or of the main thread.
std::map<Family, Duration> by_family(const Sums& sums, bool on_device) {
  if (on_device) {
    return {
        {Family::input, of(sums, Bucket::input)},
        {Family::allocation, of(sums, Bucket::allocation)},
        {Family::sync, of(sums, Bucket::sync)},
        {Family::host,
         of(sums, Bucket::dispatch) + of(sums, Bucket::python) + of(sums, Bucket::launch_latency)},
        {Family::communication, of(sums, Bucket::communication)},
        {Family::straggler, Duration{}},
        {Family::capture, of(sums, Bucket::warm_up)},
        {Family::transfer, of(sums, Bucket::memcpy) + of(sums, Bucket::memset)},
        {Family::compute, of(sums, Bucket::compute)},
    };
  }
  return {
      {Family::input, of(sums, HostBucket::input)},
      {Family::allocation, Duration{}},
      {Family::sync, of(sums, HostBucket::waiting)},
      {Family::host, of(sums, HostBucket::python)},
      {Family::communication, of(sums, HostBucket::communication)},
      {Family::straggler, Duration{}},
      {Family::capture, of(sums, HostBucket::warm_up)},
      {Family::transfer, Duration{}},
      {Family::compute, of(sums, HostBucket::forward) + of(sums, HostBucket::backward) +
                            of(sums, HostBucket::optimizer) +
                            of(sums, HostBucket::other_operators)},
  };
}

/// The family that a verdict is about, where its sentence names that family's share.
std::optional<Family> family_of(VerdictId verdict) {
  switch (verdict) {
    case VerdictId::input_bound:
    case VerdictId::io_bound:
      return Family::input;
    case VerdictId::host_bound:
      return Family::host;
    case VerdictId::sync_bound:
      return Family::sync;
    case VerdictId::transfer_bound:
      return Family::transfer;
    case VerdictId::communication_bound:
      return Family::communication;
    case VerdictId::straggler:
      return Family::straggler;
    case VerdictId::allocation_bound:
      return Family::allocation;
    case VerdictId::warmup_in_window:
      return Family::capture;
    case VerdictId::compute_bound:
    case VerdictId::memory_bandwidth_bound:
    case VerdictId::latency_bound:
      return Family::compute;
    case VerdictId::memory_capacity_bound:
    case VerdictId::physically_limited:
    case VerdictId::balanced:
    // By samples of threads: no buckets.
    case VerdictId::cpu_bound:
    case VerdictId::gil_contention:
    case VerdictId::too_few_cores:
    case VerdictId::lock_contention:
    case VerdictId::blocked_event_loop:
    case VerdictId::waiting:
    case VerdictId::cannot_tell:
      return {};
  }
  return {};
}

bool is_computing(Family family) {
  return family == Family::compute || family == Family::memory_bandwidth ||
         family == Family::latency;
}

/// Of the bar's legend, without glyphs: "python 12.3 %".
std::set<std::string> legend_of(const Diagnosis& diagnosis) {
  Style wide;
  wide.width = 1000;
  const std::string bar = account_bar(diagnosis, 0, wide);
  std::set<std::string> entries;
  std::string legend = bar.substr(std::min(bar.size(), bar.find('\n') + 1));
  while (!legend.empty() && legend != "\n") {
    const std::size_t end = std::min(legend.find("  "), legend.find('\n'));
    const std::string entry = legend.substr(0, end);
    entries.insert(entry.substr(entry.find(' ') + 1));
    legend.erase(0, end == std::string::npos ? end : end + (legend[end] == '\n' ? 1 : 2));
  }
  return entries;
}

class VerdictLaws : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    ASSERT_TRUE(read.ok()) << read.error().message;
    session_.emplace(std::move(*read), "recording");
    Result<Diagnosis> diagnosis = diagnose(*session_, {});
    ASSERT_TRUE(diagnosis.ok());
    diagnosis_ = std::move(*diagnosis);
    std::set<std::int64_t> usual;
    for (const StepAccount& step : diagnosis_.steps) {
      if (step.outlier) continue;
      ++steps_;
      window_ += step.window.length();
      usual.insert(step.number);
    }
    sums_ = reported(*session_, diagnosis_, usual);
    families_ = by_family(sums_, diagnosis_.device >= 0);
    unexplained_ = of(sums_, Bucket::device_wait) + of(sums_, Bucket::host_unknown);
    if (only_bars()) std::swap(unexplained_, families_[Family::host]);
  }

  void the_accounting_report_has_the_sums_of_the_bar() const;
  void families_are_sums_of_the_bar() const;
  void the_sentence_says_a_number_of_the_bar() const;
  void findings_claim_at_most_what_their_events_and_gaps_last() const;
  void together_saves_at_least_the_largest_and_no_more_than_is_claimed() const;

  [[nodiscard]] double percent(Duration time) const { return 100.0 * ns(time) / ns(window_); }
  /// Is the main thread known by bars of an unknown program alone? Between them it may do anything.
  [[nodiscard]] bool only_bars() const {
    return diagnosis_.device < 0 &&
           std::ranges::none_of(session_->trace().categories, [](const Category& category) {
             return category.slices > 0 && category.kind != SliceKind::other;
           });
  }
  void expect_said(Duration time) const {
    const std::string said = " " + percent_text(percent(time)) + " of the step";
    EXPECT_NE(diagnosis_.verdict.sentence.find(said), std::string::npos)
        << diagnosis_.verdict.sentence << ", not" << said;
  }
  void expect_titles_sentence() const {
    EXPECT_TRUE(std::ranges::any_of(diagnosis_.findings, [&](const RankedFinding& found) {
      return diagnosis_.verdict.sentence.find(found.finding.title) != std::string::npos;
    })) << diagnosis_.verdict.sentence;
  }
  void expect_some_loss_said() const {
    EXPECT_TRUE(std::ranges::any_of(families_, [&](const auto& each) {
      const std::string share = " " + percent_text(percent(each.second)) + ".";
      return !is_computing(each.first) && diagnosis_.verdict.sentence.ends_with(share);
    })) << diagnosis_.verdict.sentence;
  }

  std::optional<Session> session_;
  Diagnosis diagnosis_;
  std::int64_t steps_ = 0;
  Duration window_{};
  Sums sums_;  // Of the steps that are no outliers, by the report.
  std::map<Family, Duration> families_;
  Duration unexplained_{};  // Without a cause in the trace.
};

void VerdictLaws::the_accounting_report_has_the_sums_of_the_bar() const {
  SCOPED_TRACE("the accounting report has the sums of the bar");
  Sums shown;
  for (std::size_t i = 0; i < kBuckets && diagnosis_.device >= 0; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (diagnosis_.usual_account[bucket] != Duration{})
      shown[std::string(to_string(bucket))] = diagnosis_.usual_account[bucket];
  }
  for (std::size_t i = 0; i < kHostBuckets && diagnosis_.device < 0; ++i) {
    if (diagnosis_.usual_host[i] != Duration{})
      shown[std::string(to_string(static_cast<HostBucket>(i)))] = diagnosis_.usual_host[i];
  }
  EXPECT_EQ(shown, sums_);
  std::set<std::string> expected;
  Sums parts = sums_;
  if (diagnosis_.device >= 0) {
    parts["copies"] = of(sums_, Bucket::memcpy) + of(sums_, Bucket::memset);
    parts["unexplained"] = of(sums_, Bucket::device_wait) + of(sums_, Bucket::host_unknown);
    for (const Bucket joined :
         {Bucket::memcpy, Bucket::memset, Bucket::device_wait, Bucket::host_unknown})
      parts.erase(std::string(to_string(joined)));
  }
  // Of the other operators, the largest ranges of the program are shown apart.
  constexpr std::size_t kMostRanges = 3;
  for (std::size_t i = 0; i < std::min(kMostRanges, diagnosis_.usual_ranges.size()); ++i) {
    const RangeTime& range = diagnosis_.usual_ranges[i];
    if (percent(range.time) < 1.0) break;
    Duration& others = parts[std::string(to_string(HostBucket::other_operators))];
    EXPECT_LE(range.time, others);
    others -= range.time;
    parts[range.name + " (range)"] = range.time;
  }
  for (const auto& [name, time] : parts) {
    if (percent(time) >= 0.05) expected.insert(name + " " + percent_text(percent(time)));
  }
  EXPECT_EQ(legend_of(diagnosis_), expected);
}

void VerdictLaws::families_are_sums_of_the_bar() const {
  SCOPED_TRACE("families are sums of the bar");
  if (diagnosis_.verdict.families.empty()) return;
  std::set<Family> named;
  double computing = 0;
  for (const FamilyTime& family : diagnosis_.verdict.families) {
    named.insert(family.family);
    if (is_computing(family.family)) {
      computing += family.percent;
      continue;
    }
    const auto sum = families_.find(family.family);
    ASSERT_NE(sum, families_.end()) << to_string(family.family);
    EXPECT_EQ(family.per_step, sum->second / steps_) << to_string(family.family);
    EXPECT_DOUBLE_EQ(family.percent, percent(sum->second)) << to_string(family.family);
  }
  EXPECT_NEAR(computing, percent(families_.at(Family::compute)), 1e-6);
  for (const auto& [family, time] : families_) {
    if (time != Duration{} && !is_computing(family)) {
      EXPECT_TRUE(named.contains(family)) << to_string(family);
    }
  }
}

void VerdictLaws::the_sentence_says_a_number_of_the_bar() const {
  SCOPED_TRACE("the sentence says a number of the bar");
  const Verdict& verdict = diagnosis_.verdict;
  if (verdict.families.empty()) {
    // What the recording lacks; or input before anything that a device could have worked on.
    if (verdict.id == VerdictId::cannot_tell) return;
    ASSERT_EQ(verdict.id, VerdictId::input_bound);
    std::smatch said;
    ASSERT_TRUE(std::regex_search(verdict.sentence, said, std::regex(R"( for ([\d.]+) %)")));
    EXPECT_LE(std::stod(said[1]), percent(families_.at(Family::input)) + 0.05) << verdict.sentence;
    return;
  }
  if (const std::optional<Family> family = family_of(verdict.id)) {
    expect_said(families_.at(*family));
  } else if (verdict.id == VerdictId::balanced) {
    expect_some_loss_said();
  } else if (verdict.id == VerdictId::cannot_tell) {
    const std::string share = percent_text(percent(unexplained_));
    EXPECT_NE(verdict.sentence.find(" " + share), std::string::npos) << verdict.sentence;
  } else {
    expect_titles_sentence();
  }
}

/// All findings, also those that share a card.
std::vector<const RankedFinding*> all_of(const Diagnosis& diagnosis) {
  std::vector<const RankedFinding*> all;
  for (const RankedFinding& card : diagnosis.findings) {
    all.push_back(&card);
    for (const RankedFinding& alternative : card.alternatives) all.push_back(&alternative);
  }
  return all;
}

/// What lies of a stretch in the counted steps.
Duration counted(const Diagnosis& diagnosis, const Interval& interval) {
  Duration sum{};
  for (const StepAccount& step : diagnosis.steps) {
    const Time begin = std::max(interval.begin, step.window.begin);
    const Time end = std::min(interval.end, step.window.end);
    if (begin < end) sum += end - begin;
  }
  return sum;
}

/// What owns claimed time: a row of gaps (of pieces of the main thread without a device), or a
/// slice.
using Owner = std::pair<std::uint32_t, SliceId>;

Owner owner_of(const Claim& claim) {
  return claim.slice.valid() ? Owner{UINT32_MAX, claim.slice} : Owner{claim.gap, SliceId{}};
}

/// The time that an owner has to give, if it is one.
std::optional<Duration> time_of(const Owner& owner, const Session& session,
                                const Diagnosis& diagnosis, const Column<Duration>& own) {
  const Accounting& accounting = session.analyses().accounting();
  const DeviceAccounting* const device = accounting.find(diagnosis.device);
  if (owner.second.valid()) {
    if (device == nullptr) return own[owner.second.row()];
    const Trace& trace = session.trace();
    if (!is_device_activity(trace.kind(owner.second))) return {};
    if (trace.track(owner.second).device != diagnosis.device) return {};
    return accounting.credited[owner.second.row()];
  }
  if (device != nullptr) {
    if (owner.first >= device->gaps.size()) return {};
    return counted(diagnosis, device->gaps[owner.first].interval);
  }
  if (owner.first >= accounting.host.size()) return {};
  return counted(diagnosis, accounting.host[owner.first].interval);
}

void VerdictLaws::findings_claim_at_most_what_their_events_and_gaps_last() const {
  SCOPED_TRACE("findings claim at most what their events and gaps last");
  const Column<Duration> own = self_times(session_->trace(), session_->analyses().nesting());
  std::map<Owner, Duration> claimed;
  for (const RankedFinding* const found : all_of(diagnosis_)) {
    Duration sum{};
    for (const Claim& claim : found->finding.claims) {
      sum += claim.time;
      claimed[owner_of(claim)] += claim.time;
      EXPECT_TRUE(claim.slice.valid() || claim.device == diagnosis_.device) << found->id;
    }
    const std::int64_t least = steps_;
    const auto most = static_cast<std::int64_t>(diagnosis_.steps.size());
    EXPECT_TRUE(found->upper_bound == sum / least || found->upper_bound == sum / most)
        << found->id << ": " << to_ns(found->upper_bound) << " ns of " << to_ns(sum);
    EXPECT_LE(found->upper_bound, found->observed) << found->id;
    EXPECT_LE(found->upper_bound, found->step) << found->id;
    EXPECT_LE(found->observed, found->step) << found->id << ", before time is divided";
  }
  for (const auto& [owner, time] : claimed) {
    const std::optional<Duration> whole = time_of(owner, *session_, diagnosis_, own);
    ASSERT_TRUE(whole.has_value()) << owner.first << ", " << owner.second.value;
    EXPECT_LE(time, *whole) << owner.first << ", " << owner.second.value;
  }
}

/// The gains of the findings that are changed together.
std::vector<RankedFinding::Gain> single_gains(const Diagnosis& diagnosis) {
  std::vector<RankedFinding::Gain> gains;
  for (const std::uint32_t number : diagnosis.together->numbers) {
    const auto found = std::ranges::find(diagnosis.findings, number, &RankedFinding::number);
    gains.push_back(found->gain.value_or(RankedFinding::Gain{}));
  }
  return gains;
}

void VerdictLaws::together_saves_at_least_the_largest_and_no_more_than_is_claimed() const {
  SCOPED_TRACE("together saves at least the largest and no more than is claimed");
  if (!diagnosis_.together) return;
  const RankedFinding::Gain& gain = diagnosis_.together->gain;
  Duration largest{};
  Duration claimed{};
  for (const RankedFinding::Gain& single : single_gains(diagnosis_)) {
    largest = std::max(largest, single.likely);
    claimed += single.high;
  }
  EXPECT_GE(gain.likely, largest);
  EXPECT_LE(gain.likely, claimed);
  EXPECT_LE(gain.low, gain.likely);
  EXPECT_LE(gain.likely, gain.high);
  EXPECT_LE(gain.high, diagnosis_.together->step);
}

TEST_P(VerdictLaws, HoldOnEveryRecording) {
  the_accounting_report_has_the_sums_of_the_bar();
  families_are_sums_of_the_bar();
  the_sentence_says_a_number_of_the_bar();
  findings_claim_at_most_what_their_events_and_gaps_last();
  together_saves_at_least_the_largest_and_no_more_than_is_claimed();
}

INSTANTIATE_TEST_SUITE_P(Recordings, VerdictLaws, testing::ValuesIn(all_recordings()),
                         name_of_recording);

/// Folders with the ranks of one program.
std::vector<std::string> programs_of_ranks() {
  const fs::path ours = fs::path(FATHOM_SOURCE_DIR) / "tests/illness/recorded";
  std::vector<std::string> folders = {(ours / "late_rank.cured").string(),
                                      (ours / "late_rank.ill").string()};
  const fs::path others = further_data() / "kineto-multirank";
  if (fs::is_directory(others)) {
    for (const fs::directory_entry& folder : fs::directory_iterator(others))
      folders.push_back(folder.path().string());
  }
  std::ranges::sort(folders);
  return folders;
}

class RankLaws : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::vector<const Session*> borrowed;
    for (const std::string& path : traces_below(GetParam())) {
      Result<std::unique_ptr<Session>> session = Session::open(path, ReadOptions());
      ASSERT_TRUE(session.ok()) << session.error().message;
      borrowed.push_back(session->get());
      sessions_.push_back(std::move(*session));
    }
    std::size_t at = 0;
    Result<Diagnosis> diagnosis = diagnose_ranks("ranks", borrowed, {}, at);
    ASSERT_TRUE(diagnosis.ok()) << diagnosis.error().message;
    diagnosis_ = std::move(*diagnosis);
  }

  std::vector<std::unique_ptr<Session>> sessions_;
  Diagnosis diagnosis_;
};

TEST_P(RankLaws, TheSentenceSaysHowLongTheOthersWaitForTheLateOne) {
  const Ranks& ranks = *diagnosis_.ranks;
  if (GetParam().ends_with("late_rank.ill")) {
    EXPECT_EQ(diagnosis_.verdict.id, VerdictId::straggler) << diagnosis_.verdict.sentence;
  }
  if (diagnosis_.verdict.id != VerdictId::straggler) return;
  ASSERT_TRUE(ranks.late.has_value());
  const RankRow& late = ranks.rows[*ranks.late];
  Duration steps{};
  Duration waited{};
  for (const RankRow& row : ranks.rows) {
    steps += row.step;
    waited = std::max(waited, row.waited);
  }
  const double percent =
      100.0 * ns(late.made_wait) * static_cast<double>(ranks.rows.size()) / ns(steps);
  EXPECT_LE(late.made_wait, waited);
  for (const std::string& said : {duration_text(late.made_wait), percent_text(percent),
                                  std::string(late.verdict), late.verdict_words})
    EXPECT_NE(diagnosis_.verdict.sentence.find(said), std::string::npos)
        << diagnosis_.verdict.sentence << ", not " << said;
}

TEST_P(RankLaws, NoRankWaitsForLongerThanItCommunicatesByItsAccounting) {
  for (const RankRow& row : diagnosis_.ranks->rows) {
    EXPECT_LE(row.waited, row.communication) << row.input;
    EXPECT_LE(row.communication, row.step) << row.input;
    EXPECT_LE(row.made_wait, row.step) << row.input;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, RankLaws, testing::ValuesIn(programs_of_ranks()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           std::string name = fs::path(test.param).filename().string();
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace fathom
