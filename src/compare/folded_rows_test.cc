// What a baseline had no room for is no work that came or went.
#include "compare/folded_rows.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compare/baseline.h"
#include "compare/comparison.h"
#include "compare/made_profile.h"

namespace fathom {
namespace {

/// More rows than a file has room for; each takes `factor` times what it is made for.
Profile recording(std::int64_t factor = 1) {
  std::vector<ProfileRow> rows;
  for (std::int64_t i = 0; i < 2000; ++i) {
    WorkKey key =
        forward_key("aten::op" + std::to_string(i), "[[64,64],[64,64]]", R"(["float","float"])");
    key.module = "Network_0/Layer_" + std::to_string(i);
    rows.push_back(made_row(std::move(key), factor * (1000 + i), 2));
  }
  Profile profile = made_profile(std::move(rows));
  profile.content += static_cast<std::uint64_t>(factor);
  return profile;
}

/// As a file of `profile` has it.
Profile kept(const Profile& profile) {
  const SavedBaseline saved{.last = {.saved = "2026-11-23T20:50:00Z", .runs = {{profile}}},
                            .accepted = {}};
  const Result<std::string> text = baseline_text(saved);
  EXPECT_TRUE(text.ok());
  const Result<SavedBaseline> read = parse_baseline(*text);
  EXPECT_TRUE(read.ok());
  Profile back = read->last.runs.front().front();
  EXPECT_TRUE(has_folded_rows(back));
  return back;
}

TEST(FoldedRows, ARecordingBesideItsBaselineHasNoRowThatChanges) {
  const Profile profile = recording();
  for (const auto& [base, now] :
       {std::pair(kept(profile), profile), std::pair(profile, kept(profile))}) {
    const Comparison comparison = compare_profiles(base, now);
    EXPECT_EQ(comparison.comparability, Comparability::same_recording);
    EXPECT_TRUE(comparison.causes.empty());
    for (const ComparedRow& row : comparison.rows)
      ASSERT_EQ(row.part.change_ns, 0) << row.what.view();
  }
}

TEST(FoldedRows, WhatTheFileAddsUpIsComparedAsOneSum) {
  const Comparison comparison = compare_profiles(kept(recording()), recording(2));
  std::size_t sums = 0;
  for (const ComparedRow& row : comparison.rows) {
    EXPECT_GT(row.part.base_calls, 0) << row.what.view() << " was there";
    EXPECT_EQ(row.part.base_calls, row.part.new_calls) << row.what.view();
    EXPECT_EQ(row.part.new_sum_ns, 2 * row.part.base_sum_ns) << row.what.view();
    EXPECT_NE(row.cause, Cause::calls) << row.what.view();
    if (row.what == kFoldedRows) ++sums;
  }
  EXPECT_EQ(sums, 1U);
}

TEST(FoldedRows, WhatOnlyOneSideNamesMayBeInTheSum) {
  Profile now = recording();
  // The shortest row, which the file has no room for, takes longer than all that it names.
  ProfileRow& row = now.rows.front();
  row = made_row(row.key, 1'000'000, 2);
  now = made_profile(now.rows);
  const Comparison comparison = compare_profiles(kept(recording()), now);
  ASSERT_FALSE(comparison.rows.empty());
  EXPECT_EQ(comparison.rows.front().what, "aten::op0");
  EXPECT_EQ(comparison.rows.front().cause, Cause::not_recorded);
}

TEST(FoldedRows, WhatAFullRecordingLacksIsGone) {
  Profile now = recording();
  now.rows.pop_back();  // the longest, which the file names
  now = made_profile(now.rows);
  const Comparison comparison = compare_profiles(kept(recording()), now);
  ASSERT_FALSE(comparison.rows.empty());
  EXPECT_EQ(comparison.rows.front().what, "aten::op1999");
  EXPECT_EQ(comparison.rows.front().cause, Cause::calls);
}

}  // namespace
}  // namespace fathom
