#include "engine/glossary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/accounting/syncs.h"
#include "analysis/kernels/kernel_class.h"
#include "analysis/kernels/occupancy.h"
#include "analysis/roofline/roofline.h"
#include "analysis/samples/stack_roles.h"
#include "analysis/structure/phases.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/unexplained.h"
#include "replay/replay.h"
#include "reports/report.h"

namespace fathom {
namespace {

using Words = std::vector<std::string>;

TEST(Glossary, ExplainsEveryVerdict) { EXPECT_EQ(unexplained<VerdictId>("verdict"), Words()); }

TEST(Glossary, ExplainsEveryBucket) {
  EXPECT_EQ(unexplained<Bucket>("bucket"), Words());
  EXPECT_EQ(unexplained<HostBucket>("bucket"), Words());
}

TEST(Glossary, ExplainsEveryWordOfAFinding) {
  EXPECT_EQ(unexplained<Family>("family"), Words());
  EXPECT_EQ(unexplained<Effort>("effort"), Words());
  EXPECT_EQ(unexplained<Confidence>("confidence"), Words());
  EXPECT_EQ(unexplained<Weight>("severity"), Words());
}

TEST(Glossary, ExplainsEveryValueThatColumnsTakeFromAList) {
  EXPECT_EQ(unexplained<Phase>("phase"), Words());
  EXPECT_EQ(unexplained<KernelClass>("class"), Words());
  EXPECT_EQ(unexplained<OccupancyLimiter>("limiter"), Words());
  EXPECT_EQ(unexplained<Bound>("bound"), Words());
  EXPECT_EQ(unexplained<Opener>("opener"), Words());
  EXPECT_EQ(unexplained<SyncReason>("reason"), Words());
  EXPECT_EQ(unexplained<PathPart>("path"), Words());
  EXPECT_EQ(unexplained<CopyKind>("copy"), Words());
  EXPECT_EQ(unexplained<MemoryKind>("memory"), Words());
  EXPECT_EQ(unexplained<CheckStatus>("status"), Words());
  EXPECT_EQ(unexplained<WaitClass>("wait"), Words());
}

TEST(Glossary, LacksAWordThatIsNotInTheKind) {
  EXPECT_TRUE(is_explained("wait", "gil"));
  EXPECT_FALSE(is_explained("verdict", "gil"));
  EXPECT_EQ(unexplained<Effort>("verdict").size(), 4U);
}

TEST(Glossary, ExplainsTheUnitOfEveryColumn) {
  for (const Report& report : all_reports()) {
    for (const ColumnSpec& column : report.columns) {
      EXPECT_TRUE(column.unit.empty() || is_explained("unit", column.unit)) << column.unit;
    }
  }
}

TEST(Glossary, HasEachTermOnceInAKindThatExists) {
  for (const Term& term : all_terms()) {
    const auto same = [&](const Term& other) {
      return other.id == term.id && other.kind == term.kind;
    };
    EXPECT_EQ(std::ranges::count_if(all_terms(), same), 1) << term.id;
    EXPECT_EQ(std::ranges::count(all_term_kinds(), term.kind, &TermKind::id), 1) << term.kind;
  }
}

}  // namespace
}  // namespace fathom
