#include "compare/baseline.h"

#include <gtest/gtest.h>

#include "compare/any_bucket_id.h"
#include "compare/made_profile.h"

namespace fathom {
namespace {

Profile recording(std::int64_t rows, std::int64_t steps = 8) {
  std::vector<ProfileRow> made;
  for (std::int64_t i = 0; i < rows; ++i) {
    WorkKey key = forward_key("aten::op" + std::to_string(i), "[[64,64]]", "[\"float\"]");
    key.module = "Net_0";
    key.outer = "aten::outer";
    key.after_sync = i == 1;
    made.push_back(made_row(key, 1000 + i, 2, steps));
    made.back().place = "train.py:42";
    made.back().kernels = {
        {"kernel_a", {.time_ns = 400 * steps, .calls = 1, .by_batch = {}}},
        {"kernel_b", {.time_ns = (600 + i) * steps, .calls = 1, .by_batch = {}}}};
  }
  Profile profile = made_profile(std::move(made), steps);
  profile.rank = 3;
  profile.started_unix_ns = 1'764'000'000'123'456'789;
  profile.clock_mhz = 1755.5;
  profile.on_device = true;
  profile.steps_left_out = 2;
  profile.counters = {{.id = "flops", .title = "f", .unit = "flops", .value = INT64_MAX / 2},
                      {.id = "peak_allocated_bytes",
                       .title = "peak",
                       .unit = "bytes",
                       .value = 7,
                       .per_step = false}};
  profile.conditions = {{"device", "device", "A \"100\" → ✓"}, {"batch", "batch", ""}};
  return profile;
}

SavedBaseline baseline_of(Profile profile) {
  return {.last = {.saved = "2026-11-23T20:50:00Z", .runs = {{std::move(profile)}}},
          .accepted = {}};
}

std::string text_of(const SavedBaseline& baseline) {
  const Result<std::string> text = baseline_text(baseline);
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
  return text.ok() ? *text : std::string();
}

std::string refused(const std::string& text) {
  const Result<SavedBaseline> baseline = parse_baseline(text);
  EXPECT_FALSE(baseline.ok());
  return baseline.ok() ? std::string() : baseline.error().message;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(Baseline, IsReadAsItWasWritten) {
  const Profile profile = recording(3);
  const Result<SavedBaseline> read = parse_baseline(text_of(baseline_of(profile)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->last.saved, "2026-11-23T20:50:00Z");
  EXPECT_FALSE(read->accepted);
  ASSERT_EQ(read->last.runs.size(), 1U);
  const Profile& back = read->last.runs[0][0];
  EXPECT_EQ(back.input, profile.input);
  EXPECT_EQ(back.content, profile.content);
  EXPECT_EQ(back.rank, 3);
  EXPECT_EQ(back.started_unix_ns, profile.started_unix_ns);
  EXPECT_EQ(back.step_name, profile.step_name);
  EXPECT_EQ(back.steps_left_out, 2U);
  EXPECT_TRUE(back.on_device);
  EXPECT_EQ(back.clock_mhz, profile.clock_mhz);
  EXPECT_EQ(back.lengths_ns, profile.lengths_ns);
  EXPECT_EQ(back.batches, profile.batches);
  ASSERT_EQ(back.counters.size(), 2U);
  EXPECT_EQ(back.counters[0].value, INT64_MAX / 2);
  EXPECT_FALSE(back.counters[1].per_step);
  EXPECT_EQ(back.conditions[0].value, "A \"100\" → ✓");
  ASSERT_EQ(back.rows.size(), 3U);
  // The longest first.
  EXPECT_EQ(back.rows[0].key, profile.rows[2].key);
  EXPECT_EQ(back.rows[1].key, profile.rows[1].key);
  EXPECT_EQ(back.rows[0].work.by_batch, profile.rows[2].work.by_batch);
  EXPECT_EQ(back.rows[0].kernels.size(), 2U);
  EXPECT_EQ(back.rows[0].place, "train.py:42");
}

TEST(Baseline, WhatHasNoRoomIsAddedUp) {
  const Profile profile = recording(3000);
  const std::string text = text_of(baseline_of(profile));
  EXPECT_LT(text.size(), kLargestBaseline / 2);
  EXPECT_GT(text.size(), kLargestBaseline / 4);
  const Result<SavedBaseline> read = parse_baseline(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Profile& back = read->last.runs[0][0];
  EXPECT_LT(back.rows.size(), 1000U);
  EXPECT_EQ(back.rows.back().key.op, kFoldedRows);
  std::int64_t sum = 0;
  for (const ProfileRow& row : back.rows) sum += row.work.time_ns;
  EXPECT_EQ(sum, profile.sum_ns());
}

TEST(Baseline, WithWhatWasAcceptedItFitsToo) {
  SavedBaseline baseline = baseline_of(recording(3000));
  baseline.accepted = Snapshot{.saved = "2026-01-01T00:00:00Z", .runs = {{recording(3000)}}};
  const std::string text = text_of(baseline);
  EXPECT_LT(text.size(), kLargestBaseline);
  const Result<SavedBaseline> read = parse_baseline(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->accepted_one().saved, "2026-01-01T00:00:00Z");
  // What was read is written again in the same way.
  const Result<SavedBaseline> again = parse_baseline(text_of(*read));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->last.runs[0][0].lengths_ns, baseline.last.runs[0][0].lengths_ns);
}

TEST(Baseline, TooManyStepsAreRefusedWithARemedy) {
  const Result<std::string> text = baseline_text(baseline_of(recording(1, 40'000)));
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("40000 steps"), std::string::npos);
  EXPECT_NE(text.error().message.find("--steps"), std::string::npos);
}

TEST(Baseline, ANewerVersionIsRefusedWithARemedy) {
  const std::string text = text_of(baseline_of(recording(1)));
  EXPECT_TRUE(looks_like_baseline(text));
  const std::string newer = replaced(text, "fathom.baseline/2", "fathom.baseline/3");
  EXPECT_TRUE(looks_like_baseline(newer));
  EXPECT_NE(refused(newer).find("newer version (fathom.baseline/3"), std::string::npos);
  EXPECT_NE(refused(newer).find("update fathom"), std::string::npos);
}

TEST(Baseline, AnOlderVersionIsReadAndSaysSo) {
  const SavedBaseline now = *parse_baseline(text_of(baseline_of(recording(1))));
  EXPECT_EQ(version_note(now), "");
  const Result<SavedBaseline> older = parse_baseline(
      replaced(text_of(baseline_of(recording(1))), "fathom.baseline/2", "fathom.baseline/1"));
  ASSERT_TRUE(older.ok()) << older.error().message;
  EXPECT_NE(version_note(*older).find("an older Fathom (fathom.baseline/1)"), std::string::npos);
}

TEST(Baseline, WhatIsWrongIsNamed) {
  const std::string text = text_of(baseline_of(recording(2)));
  EXPECT_NE(refused(text.substr(0, text.size() / 2)).find("cut off"), std::string::npos);
  EXPECT_NE(refused(replaced(text, "\"saved\"", "\"s\"")).find("'saved'"), std::string::npos);
  EXPECT_NE(refused(replaced(text, "\"last\"", "\"l\"")).find("'last'"), std::string::npos);
  EXPECT_NE(refused(replaced(text, "\"lengths_ns\": [", "\"lengths_ns\": [-1,")).find("lengths_ns"),
            std::string::npos);
  EXPECT_NE(refused(replaced(text, "\"lengths_ns\": [2001,", "\"lengths_ns\": [2002,"))
                .find("do not sum"),
            std::string::npos);
  EXPECT_NE(refused(replaced(text, "host:forward", "host:nowhere")).find("bucket"),
            std::string::npos);
  EXPECT_NE(refused(replaced(text, "\"rows\": [", "\"rows\": [7,")).find("row"), std::string::npos);
  EXPECT_NE(refused("{\"schema\": \"fathom.baseline/0\"}").find("no version"), std::string::npos);
  EXPECT_NE(
      refused("{\"schema\": \"fathom.baseline/1\", \"last\": {\"saved\": \"\"}}").find("'runs'"),
      std::string::npos);
  EXPECT_NE(
      refused("{\"schema\": \"fathom.baseline/1\", \"last\": {\"saved\": \"\", \"runs\": [[{}]]}}")
          .find("'input'"),
      std::string::npos);
}

/// Every cut and every changed byte is either read or refused.
TEST(Baseline, DamageNeverCrashes) {
  const std::string text = text_of(baseline_of(recording(2)));
  for (std::size_t at = 0; at < text.size(); at += 3) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 5);
    (void)parse_baseline(damaged).ok();
    (void)parse_baseline(text.substr(0, at)).ok();
  }
}

TEST(Baseline, BucketsKeepTheirNames) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const AnyBucket bucket(static_cast<Bucket>(i));
    EXPECT_EQ(any_bucket_of(any_bucket_id(bucket)), bucket);
  }
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    const AnyBucket bucket(static_cast<HostBucket>(i));
    EXPECT_EQ(any_bucket_of(any_bucket_id(bucket)), bucket);
  }
  EXPECT_EQ(any_bucket_of("outside"), AnyBucket::outside());
  EXPECT_FALSE(any_bucket_of("elsewhere"));
}

}  // namespace
}  // namespace fathom
