// The verdict, its sentence and the accounting say the same numbers; no finding claims more than
// there is.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/quantity_text.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "formats/format.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

class VerdictLaws : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    ASSERT_TRUE(read.ok()) << read.error().message;
    session_.emplace(std::move(*read), "recording");
    Result<Diagnosis> diagnosis = diagnose(*session_, {});
    ASSERT_TRUE(diagnosis.ok());
    diagnosis_ = std::move(*diagnosis);
    for (const StepAccount& step : diagnosis_.steps) {
      if (step.outlier) continue;
      ++steps_;
      window_ += step.window.length();
    }
  }

  [[nodiscard]] Duration bucket(Bucket bucket) const { return diagnosis_.usual_account[bucket]; }
  [[nodiscard]] double percent(Duration time) const {
    return 100.0 * static_cast<double>(to_ns(time)) / static_cast<double>(to_ns(window_));
  }

  std::optional<Session> session_;
  Diagnosis diagnosis_;
  std::int64_t steps_ = 0;
  Duration window_{};
};

TEST_P(VerdictLaws, FamiliesAreSumsOfTheBar) {
  if (diagnosis_.device < 0 || diagnosis_.verdict.families.empty()) return;
  const std::map<Family, Duration> sums = {
      {Family::input, bucket(Bucket::input)},
      {Family::allocation, bucket(Bucket::allocation)},
      {Family::sync, bucket(Bucket::sync)},
      {Family::host,
       bucket(Bucket::dispatch) + bucket(Bucket::python) + bucket(Bucket::launch_latency)},
      {Family::communication, bucket(Bucket::communication)},
      {Family::capture, bucket(Bucket::warm_up)},
      {Family::transfer, bucket(Bucket::memcpy) + bucket(Bucket::memset)},
  };
  double computing = 0;
  for (const FamilyTime& family : diagnosis_.verdict.families) {
    const auto sum = sums.find(family.family);
    if (sum == sums.end()) {
      computing += family.percent;
      continue;
    }
    EXPECT_EQ(family.per_step, sum->second / steps_) << to_string(family.family);
    EXPECT_DOUBLE_EQ(family.percent, percent(sum->second)) << to_string(family.family);
  }
  EXPECT_NEAR(computing, percent(bucket(Bucket::compute)), 1e-6);
}

TEST_P(VerdictLaws, TheSentenceSaysANumberOfTheBar) {
  const Verdict& verdict = diagnosis_.verdict;
  if (diagnosis_.device < 0 || verdict.families.empty()) return;
  const auto says = [&](Duration time) {
    EXPECT_NE(verdict.sentence.find(percent_text(percent(time))), std::string::npos)
        << verdict.sentence << " of " << percent_text(percent(time));
  };
  switch (verdict.id) {
    case VerdictId::input_bound:
      return says(bucket(Bucket::input));
    case VerdictId::host_bound:
      return says(bucket(Bucket::dispatch) + bucket(Bucket::python) +
                  bucket(Bucket::launch_latency));
    case VerdictId::sync_bound:
      return says(bucket(Bucket::sync));
    case VerdictId::transfer_bound:
      return says(bucket(Bucket::memcpy) + bucket(Bucket::memset));
    case VerdictId::communication_bound:
      return says(bucket(Bucket::communication));
    case VerdictId::compute_bound:
    case VerdictId::memory_bandwidth_bound:
    case VerdictId::latency_bound:
      return says(bucket(Bucket::compute));
    default:
      return;
  }
}

TEST_P(VerdictLaws, NoFindingClaimsMoreThanItsEventsSumTo) {
  const Trace& trace = session_->trace();
  for (const RankedFinding& found : diagnosis_.findings) {
    std::map<std::uint32_t, Duration> of_slice;
    for (const Claim& claim : found.finding.claims) {
      if (claim.slice.valid()) of_slice[claim.slice.value] += claim.time;
    }
    for (const auto& [slice, time] : of_slice)
      EXPECT_LE(time, trace.slices.duration[slice]) << found.id;
    EXPECT_LE(found.upper_bound, found.step) << found.id;
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

TEST_P(VerdictLaws, TogetherSavesAtLeastTheLargestAndNoMoreThanIsClaimed) {
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

INSTANTIATE_TEST_SUITE_P(Recordings, VerdictLaws, testing::ValuesIn(recordings()),
                         name_of_recording);

}  // namespace
}  // namespace fathom
