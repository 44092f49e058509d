#include "compare/same_kernels.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "compare/made_profile.h"

namespace fathom {
namespace {

ProfileRow launched(const std::string& op, const std::vector<std::string>& kernels,
                    std::int64_t time) {
  ProfileRow row = made_row(
      {.bucket = AnyBucket(Bucket::compute), .phase = "forward", .op = op, .shapes = "[2]"}, time,
      static_cast<std::int64_t>(kernels.size()));
  for (const std::string& name : kernels) {
    row.kernels.push_back({.name = name, .work = row.work});
    row.kernels.back().work.time_ns /= static_cast<std::int64_t>(kernels.size());
  }
  return row;
}

ProfileRow alone(const std::string& kernel, std::int64_t time) {
  return made_row({.bucket = AnyBucket(Bucket::compute), .phase = "other", .op = kernel}, time, 1);
}

TEST(SameKernels, AreTheWorkOfTheOperatorsThatLaunchedThem) {
  const Profile base = made_profile({launched("aten::mm", {"sgemm", "splitk"}, 400),
                                     launched("aten::add", {"elementwise"}, 100),
                                     launched("aten::mul", {"elementwise"}, 100)});
  Profile now = made_profile(
      {alone("sgemm", 150), alone("splitk", 150), alone("elementwise", 200), alone("memset", 5)});
  now.on_device = true;
  Profile device = base;
  device.on_device = true;
  const Comparison comparison = compare_profiles(device, now);
  EXPECT_EQ(comparison.comparability, Comparability::comparable);
  EXPECT_GT(comparison.aligned[static_cast<std::size_t>(Alignment::kernels)], 0.9);
  std::vector<std::string> names;
  for (const ComparedRow& row : comparison.rows) {
    if (row.alignment != Alignment::kernels) continue;
    names.push_back(row.what.str());
    EXPECT_EQ(row.phase, "forward");
    EXPECT_EQ(row.part.change_ns, row.what == "aten::mm" ? -100 : 0);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"aten::add, aten::mul", "aten::mm"}));
}

TEST(SameKernels, ServeOnlyWhereOneSideHasNoOperators) {
  const Profile both = made_profile({launched("aten::mm", {"sgemm"}, 400)});
  const Profile other = made_profile({launched("my::mm", {"sgemm"}, 400)});
  EXPECT_FALSE(without_operators({both.rows.data()}));
  for (const AlignedWork& work : align(both, other)) EXPECT_NE(work.alignment, Alignment::kernels);
}

}  // namespace
}  // namespace fathom
