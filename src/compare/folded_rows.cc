// Adds up on one side what the other has as one sum.
#include "compare/folded_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compare/shares.h"

namespace fathom {
namespace {

/// A file keeps the longest rows. Times of two recordings differ, so that what is a little longer
/// may have been left out there, too.
constexpr std::int64_t kLonger = 2;

/// Version 1 of the file knows no phases, and the outermost operator may be another.
WorkKey kept_key(WorkKey key) {
  key.phase = {};
  key.outer = {};
  return key;
}

struct Kept {
  std::set<AnyBucket> folded;
  std::set<WorkKey> keys;
  const ProfileRow* shortest = nullptr;
};

Kept kept_of(const Profile& profile) {
  Kept kept{.folded = folded_buckets(profile), .keys = {}, .shortest = nullptr};
  for (const ProfileRow& row : profile.rows) {
    if (row.key.op == kFoldedRows) continue;
    kept.keys.insert(kept_key(row.key));
    if (kept.shortest == nullptr || row.work.time_ns < kept.shortest->work.time_ns)
      kept.shortest = &row;
  }
  return kept;
}

}  // namespace

bool has_folded_rows(const Profile& profile) {
  return std::ranges::any_of(profile.rows,
                             [](const ProfileRow& row) { return row.key.op == kFoldedRows; });
}

std::set<AnyBucket> folded_buckets(const Profile& profile) {
  std::set<AnyBucket> buckets;
  for (const ProfileRow& row : profile.rows) {
    if (row.key.op == kFoldedRows) buckets.insert(row.key.bucket);
  }
  return buckets;
}

Profile folded_like(const Profile& profile, const Profile& other) {
  Profile out = profile;
  if (same_recording(profile, other)) {
    if (has_folded_rows(profile)) {
      out.rows = other.rows;
      out.batches = other.batches;
    }
    return out;
  }
  const Kept kept = kept_of(other);
  const auto may_be_folded = [&](const ProfileRow& row) {
    if (!kept.folded.contains(row.key.bucket)) return false;
    if (row.key.op == kFoldedRows) return true;
    if (kept.keys.contains(kept_key(row.key))) return false;
    return kept.shortest == nullptr ||
           Wide{row.work.time_ns} * other.steps() <=
               Wide{kept.shortest->work.time_ns} * kLonger * profile.steps();
  };
  std::vector<ProfileRow> sums;
  std::vector<ProfileRow> rows;
  for (ProfileRow& row : out.rows) {
    if (!may_be_folded(row)) {
      rows.push_back(std::move(row));
      continue;
    }
    auto sum = std::ranges::find(sums, row.key.bucket,
                                 [](const ProfileRow& each) { return each.key.bucket; });
    if (sum == sums.end()) {
      ProfileRow made;
      made.key = {.bucket = row.key.bucket, .op = kFoldedRows};
      made.order = row.order;
      sum = sums.insert(sums.end(), std::move(made));
    }
    sum->work.add(row.work);
  }
  std::ranges::move(sums, std::back_inserter(rows));
  std::ranges::stable_sort(rows, {}, &ProfileRow::key);
  out.rows = std::move(rows);
  return out;
}

}  // namespace fathom
