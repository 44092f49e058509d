#include "compare/align.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "compare/made_profile.h"

namespace fathom {
namespace {

const AlignedWork* find(const std::vector<AlignedWork>& all, Alignment alignment) {
  const auto at = std::ranges::find(all, alignment, &AlignedWork::alignment);
  return at == all.end() ? nullptr : &*at;
}

WorkKey in_module(WorkKey key, std::string module) {
  key.module = std::move(module);
  return key;
}

TEST(Align, MatchesByModuleOperatorAndShapesFirst) {
  const Profile base = made_profile(
      {made_row(forward_key("mm", "[2]"), 5, 1), made_row(forward_key("mm", "[3]"), 7, 1)});
  const std::vector<AlignedWork> all = align(base, base);
  ASSERT_EQ(all.size(), 2U);
  for (const AlignedWork& work : all) {
    EXPECT_EQ(work.alignment, Alignment::module_operator_shapes);
    EXPECT_EQ(work.base.front(), work.now.front());
  }
}

TEST(Align, MatchesOtherShapesOfTheSameOperator) {
  const Profile base = made_profile({made_row(forward_key("mm", "[2]"), 5, 1)});
  const Profile now = made_profile({made_row(forward_key("mm", "[4]"), 9, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().alignment, Alignment::module_operator);
}

TEST(Align, AnOperatorThatIsGivenItsResultHasTheSameInputs) {
  const Profile base = made_profile({made_row(forward_key("mm", "[[2,3],[3,4]]"), 5, 1),
                                     made_row(forward_key("mm", "[[9,3],[3,9]]"), 5, 1)});
  const Profile now = made_profile({made_row(forward_key("mm", "[[2,3],[3,4],[2,4]]"), 6, 1),
                                    made_row(forward_key("mm", "[[9,3],[3,9],[9,9]]"), 6, 1)});
  for (const auto& [one, other] : {std::pair(&base, &now), std::pair(&now, &base)}) {
    const std::vector<AlignedWork> all = align(*one, *other);
    ASSERT_EQ(all.size(), 2U);
    for (const AlignedWork& work : all)
      EXPECT_EQ(work.alignment, Alignment::module_operator_shapes);
  }
}

TEST(Align, ACompiledGraphIsWhatTheOtherSideAloneHasInThePhase) {
  const Profile eager =
      made_profile({made_row(forward_key("mm", "[2]"), 50, 1), made_row(forward_key("mul"), 30, 3),
                    made_row(forward_key("tanh"), 20, 1)});
  const Profile compiled =
      made_profile({made_row(forward_key("mm", "[2]"), 50, 1),
                    made_row(forward_key("## Call CompiledFxGraph fabc ##"), 10, 1),
                    made_row(forward_key("Torch-Compiled Region: 0/0"), 1, 1)});
  for (const auto& [one, other] : {std::pair(&eager, &compiled), std::pair(&compiled, &eager)}) {
    const std::vector<AlignedWork> all = align(*one, *other);
    ASSERT_EQ(all.size(), 2U);
    const AlignedWork* const fused = find(all, Alignment::fused);
    ASSERT_NE(fused, nullptr);
    EXPECT_EQ(fused->base.size(), 2U);
    EXPECT_EQ(fused->now.size(), 2U);
  }
  // Of two compiled programs it is not known which operators another graph took in.
  EXPECT_EQ(find(align(compiled, compiled), Alignment::fused), nullptr);
}

TEST(Align, MatchesAnOperatorThatMovedToAnotherModule) {
  const Profile base = made_profile({made_row(in_module(forward_key("mm"), "Net_0"), 5, 1)});
  const Profile now = made_profile({made_row(in_module(forward_key("mm"), "Net_1"), 5, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().alignment, Alignment::operator_only);
}

TEST(Align, TakesWhatIsLeftOnBothSidesOfAModuleForReplaced) {
  const Profile base = made_profile({made_row(in_module(forward_key("pow"), "Gelu_0"), 5, 1),
                                     made_row(in_module(forward_key("tanh"), "Gelu_0"), 5, 1),
                                     made_row(in_module(forward_key("mm"), "Linear_0"), 50, 1)});
  const Profile now = made_profile({made_row(in_module(forward_key("gelu"), "Gelu_0"), 4, 1),
                                    made_row(in_module(forward_key("mm"), "Linear_0"), 50, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  const AlignedWork* const replaced = find(all, Alignment::replaced);
  ASSERT_NE(replaced, nullptr);
  EXPECT_EQ(replaced->base.size(), 2U);
  EXPECT_EQ(replaced->now.front()->key.op, "gelu");
}

TEST(Align, TakesAnOperatorThatCallsOthersInsideForOneThing) {
  const auto inside = [](std::string op, std::int64_t time) {
    WorkKey key = forward_key(std::move(op), "[4]");
    key.outer = "conv2d";
    return made_row(key, time, 1);
  };
  const Profile base = made_profile({inside("conv2d", 1), inside("slow_conv2d", 900)});
  const Profile now = made_profile({inside("conv2d", 300)});
  const std::vector<AlignedWork> all = align(base, now);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().alignment, Alignment::replaced);
  EXPECT_EQ(all.front().base.size(), 2U);
}

TEST(Align, ReplacesNothingByNearlyNothing) {
  const Profile base = made_profile({made_row(forward_key("zero_"), 1000, 1)});
  const Profile now = made_profile({made_row(forward_key("detach"), 19, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  EXPECT_EQ(find(all, Alignment::replaced), nullptr);
  EXPECT_NE(find(all, Alignment::base_only), nullptr);
  EXPECT_NE(find(all, Alignment::new_only), nullptr);
}

TEST(Align, LeavesBucketsApart) {
  const Profile base = made_profile({made_row(forward_key("mm"), 5, 1)});
  WorkKey backward = forward_key("mm");
  backward.bucket = AnyBucket(HostBucket::backward);
  const Profile now = made_profile({made_row(backward, 5, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  EXPECT_EQ(all.size(), 2U);
}

WorkKey on_device(std::string phase, std::string op, std::string shapes = {}) {
  return {.bucket = AnyBucket(Bucket::compute),
          .phase = std::move(phase),
          .op = std::move(op),
          .shapes = std::move(shapes)};
}

TEST(Align, PrefersTheSamePhase) {
  const Profile base = made_profile({made_row(on_device("forward", "mm", "[2]"), 5, 1),
                                     made_row(on_device("backward", "mm", "[2]"), 9, 1)});
  for (const AlignedWork& work : align(base, base)) {
    ASSERT_EQ(work.base.size(), 1U);
    EXPECT_EQ(work.base.front()->key.phase, work.now.front()->key.phase);
  }
}

TEST(Align, FindsWorkWhosePhaseOneSideDoesNotShow) {
  const Profile base = made_profile({made_row(on_device("forward", "mm", "[2]"), 5, 1)});
  const Profile now = made_profile({made_row(on_device("", "mm", "[2]"), 5, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().alignment, Alignment::module_operator_shapes);
}

TEST(Align, TakesListedOperatorsForWhatAKernelReplaced) {
  const Profile base =
      made_profile({made_row(in_module(on_device("forward", "aten::mm"), "Net_0"), 50, 1),
                    made_row(in_module(on_device("forward", "aten::mul"), "Net_0"), 5, 1),
                    made_row(in_module(on_device("forward", "aten::tanh"), "Net_0"), 5, 1),
                    made_row(in_module(on_device("forward", "aten::sort"), "Net_0"), 7, 1)});
  const Profile now = made_profile(
      {made_row(in_module(on_device("forward", "aten::mm"), "Net_0"), 50, 1),
       made_row(in_module(on_device("forward", "triton_poi_fused_mul_tanh_0"), "Net_0"), 6, 1),
       made_row(in_module(on_device("forward", "my::kernel"), "Net_0"), 7, 1)});
  const std::vector<AlignedWork> all = align(base, now);
  const AlignedWork* const fused = find(all, Alignment::fused);
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->base.size(), 2U);
  const AlignedWork* const rest = find(all, Alignment::replaced);
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->base.front()->key.op, "aten::sort");
}

TEST(Align, TellsReplacementsApartByTheOrderOfSiblings) {
  const auto ordered = [](const std::vector<std::string>& names) {
    std::vector<ProfileRow> rows;
    for (const std::string& name : names) {
      rows.push_back(made_row(in_module(forward_key(name), "Net_0"), 100, 1));
      rows.back().order = rows.size();
    }
    return made_profile(rows);
  };
  const Profile base = ordered({"a", "linear", "b"});
  const Profile now = ordered({"x", "linear", "y"});
  std::size_t found = 0;
  for (const AlignedWork& work : align(base, now)) {
    if (work.alignment != Alignment::siblings) continue;
    ++found;
    EXPECT_EQ(work.base.front()->key.op == "a", work.now.front()->key.op == "x");
  }
  EXPECT_EQ(found, 2U);
}

TEST(Align, PutsEachRowInExactlyOnePlace) {
  const Profile base =
      made_profile({made_row(forward_key("a", "[1]"), 5, 1),
                    made_row(forward_key("b", "[1]"), 6, 1), made_row(forward_key(""), 7, 1)});
  const Profile now = made_profile(
      {made_row(forward_key("a", "[2]"), 5, 1), made_row(forward_key("c", "[1]"), 6, 1)});
  std::size_t of_base = 0;
  std::size_t of_now = 0;
  for (const AlignedWork& work : align(base, now)) {
    of_base += work.base.size();
    of_now += work.now.size();
  }
  EXPECT_EQ(of_base, base.rows.size());
  EXPECT_EQ(of_now, now.rows.size());
}

TEST(Align, WorkOfOneSideThatTakesNoTimeReplacesNothing) {
  WorkKey hidden = forward_key("aten::_convolution");
  hidden.outer = "aten::conv2d";
  const Profile with = made_profile({made_row(forward_key("mm"), 5, 1), made_row(hidden, 0, 1)});
  const Profile without = made_profile({made_row(forward_key("mm"), 5, 1)});
  const std::vector<AlignedWork> added = align(without, with);
  ASSERT_EQ(added.size(), 2U);
  EXPECT_NE(find(added, Alignment::new_only), nullptr);
  EXPECT_NE(find(align(with, without), Alignment::base_only), nullptr);
}

}  // namespace
}  // namespace fathom
