#include "compare/fused.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

std::vector<const ProfileRow*> rows_of(const Profile& profile) {
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : profile.rows) rows.push_back(&row);
  return rows;
}

Profile of_operators(const std::vector<std::string>& names) {
  std::vector<ProfileRow> rows;
  for (const std::string& name : names) rows.push_back(made_row(forward_key(name), 100, 1));
  return made_profile(rows);
}

std::vector<std::string> names_of(const std::vector<const ProfileRow*>& rows) {
  std::vector<std::string> names;
  for (const ProfileRow* const row : rows) names.push_back(row->key.op.str());
  std::ranges::sort(names);
  return names;
}

TEST(Fused, KernelsOfInductorHaveAList) {
  EXPECT_EQ(fused_list("triton_poi_fused_add_mul_0"), "add_mul_0");
  EXPECT_EQ(fused_list("graph_0_cpp_fused_add_1"), "add_1");
  EXPECT_EQ(fused_list("aten::_fused_sgd_"), "");
  EXPECT_EQ(fused_list("triton_mm"), "");
}

TEST(Fused, TakesTheOperatorsThatAKernelLists) {
  const Profile base =
      of_operators({"aten::mul", "aten::tanh", "aten::add_", "aten::_to_copy", "aten::mm"});
  const Profile now = of_operators({"triton_poi_fused__to_copy_add_mul_tanh_0"});
  const std::vector<AlignedWork> found = fused_work(rows_of(base), rows_of(now));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].alignment, Alignment::fused);
  EXPECT_EQ(names_of(found[0].base),
            (std::vector<std::string>{"aten::_to_copy", "aten::add_", "aten::mul", "aten::tanh"}));
  EXPECT_EQ(found[0].now.size(), 1U);
  // And the other way round.
  const std::vector<AlignedWork> back = fused_work(rows_of(now), rows_of(base));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].now.size(), 4U);
}

TEST(Fused, PrefersTheLongestName) {
  const Profile base = of_operators({"aten::native_layer_norm", "aten::norm"});
  const Profile now = of_operators({"triton_per_fused_native_layer_norm_2"});
  const std::vector<AlignedWork> found = fused_work(rows_of(base), rows_of(now));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(names_of(found[0].base), std::vector<std::string>{"aten::native_layer_norm"});
}

TEST(Fused, ReadsKernelsBelowAnOperatorOfAnotherName) {
  const Profile base = of_operators({"aten::gelu"});
  Profile now = of_operators({"CompiledFunction"});
  now.rows[0].kernels = {{.name = "triton_poi_fused_gelu_0", .work = now.rows[0].work}};
  EXPECT_EQ(fused_work(rows_of(base), rows_of(now)).size(), 1U);
}

TEST(Fused, KernelsThatShareAnOperatorAreOneWorkAndOthersAreNot) {
  const Profile base = of_operators({"aten::add", "aten::mul", "aten::exp"});
  const Profile now = of_operators(
      {"triton_poi_fused_add_0", "triton_poi_fused_add_mul_1", "triton_red_fused_exp_2"});
  const std::vector<AlignedWork> found = fused_work(rows_of(base), rows_of(now));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].base.size() + found[1].base.size(), 3U);
  EXPECT_EQ(found[0].now.size() + found[1].now.size(), 3U);
}

TEST(Fused, NothingWithoutAListedOperator) {
  const Profile base = of_operators({"aten::mm", ""});
  const Profile now = of_operators({"triton_poi_fused_add_0"});
  EXPECT_TRUE(fused_work(rows_of(base), rows_of(now)).empty());
}

}  // namespace
}  // namespace fathom
