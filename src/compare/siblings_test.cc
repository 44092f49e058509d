#include "compare/siblings.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

/// Rows in the order of their names; those of both sides are matched.
struct Sides {
  Sides(const std::vector<std::string>& before, const std::vector<std::string>& after)
      : base(in_order(before)), now(in_order(after)) {
    for (const ProfileRow& row : base.rows) left_base.push_back(&row);
    for (const ProfileRow& row : now.rows) {
      const auto same = std::ranges::find_if(
          left_base, [&row](const ProfileRow* other) { return other->key.op == row.key.op; });
      if (same == left_base.end()) {
        left_now.push_back(&row);
        continue;
      }
      matched.push_back({.alignment = Alignment::module_operator_shapes,
                         .bucket = row.key.bucket,
                         .base = {*same},
                         .now = {&row}});
      left_base.erase(same);
    }
  }
  static Profile in_order(const std::vector<std::string>& names) {
    std::vector<ProfileRow> rows;
    for (const std::string& name : names) {
      rows.push_back(made_row(forward_key(name), 100, 1));
      rows.back().order = rows.size();
    }
    return made_profile(rows);
  }
  [[nodiscard]] std::vector<AlignedWork> found() const {
    return between_siblings(matched, left_base, left_now);
  }

  Profile base;
  Profile now;
  std::vector<const ProfileRow*> left_base;
  std::vector<const ProfileRow*> left_now;
  std::vector<AlignedWork> matched;
};

std::string text_of(const AlignedWork& work) {
  std::string text;
  for (const ProfileRow* const row : work.base) text += row->key.op;
  text += ">";
  for (const ProfileRow* const row : work.now) text += row->key.op;
  return text;
}

TEST(Siblings, MatchWhatLiesBetweenTheSameOnes) {
  const Sides sides({"linear", "a", "norm", "b", "c", "linear2"},
                    {"linear", "x", "norm", "y", "linear2"});
  const std::vector<AlignedWork> found = sides.found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(text_of(found[0]), "a>x");
  EXPECT_EQ(text_of(found[1]), "bc>y");
  EXPECT_EQ(found[0].alignment, Alignment::siblings);
}

TEST(Siblings, MatchAtBothEnds) {
  const Sides sides({"a", "mm", "b"}, {"x", "mm", "y"});
  const std::vector<AlignedWork> found = sides.found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(text_of(found[0]), "a>x");
  EXPECT_EQ(text_of(found[1]), "b>y");
}

TEST(Siblings, OneThatMovedDividesNothing) {
  // "m" stands in another place: only the longest common order, p q, counts.
  const Sides sides({"m", "p", "a", "q"}, {"p", "x", "q", "m"});
  const std::vector<AlignedWork> found = sides.found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(text_of(found[0]), "a>x");
}

TEST(Siblings, NothingWithoutAMatchedOneOrWithoutAnOrder) {
  EXPECT_TRUE(Sides({"a"}, {"x"}).found().empty());
  Sides unordered({"mm", "a"}, {"mm", "x"});
  for (ProfileRow& row : unordered.base.rows) row.order = 0;
  EXPECT_TRUE(unordered.found().empty());
}

TEST(Siblings, WhatStandsElsewhereIsNoReplacement) {
  EXPECT_TRUE(Sides({"a", "mm"}, {"mm", "x"}).found().empty());
}

}  // namespace
}  // namespace fathom
