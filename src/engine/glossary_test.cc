#include "engine/glossary.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/accounting/syncs.h"
#include "analysis/kernels/kernel_class.h"
#include "analysis/kernels/occupancy.h"
#include "analysis/roofline/roofline.h"
#include "analysis/structure/phases.h"
#include "engine/diagnosis/diagnosis.h"
#include "replay/replay.h"
#include "reports/report.h"

namespace fathom {
namespace {

bool explained(std::string_view kind, std::string_view id) {
  return std::ranges::any_of(find_terms(id), [&](const Term* term) { return term->kind == kind; });
}

/// Every value of an enumeration from 0 to `last`, by its name.
template <typename Enum>
void expect_all(std::string_view kind, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view id = to_string(static_cast<Enum>(i));
    EXPECT_TRUE(explained(kind, id)) << kind << ": " << id;
  }
}

TEST(Glossary, ExplainsEveryVerdict) {
  for (int id = 0; id <= static_cast<int>(VerdictId::cannot_tell); ++id) {
    EXPECT_TRUE(explained("verdict", to_string(static_cast<VerdictId>(id)))) << id;
  }
}

TEST(Glossary, ExplainsEveryBucket) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    EXPECT_TRUE(explained("bucket", to_string(static_cast<Bucket>(i)))) << i;
  }
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    EXPECT_TRUE(explained("bucket", to_string(static_cast<HostBucket>(i)))) << i;
  }
}

TEST(Glossary, ExplainsEveryWordOfAFinding) {
  expect_all("family", Family::physical);
  expect_all("effort", Effort::redesign);
  expect_all("confidence", Confidence::high);
  expect_all("severity", Weight::critical);
}

TEST(Glossary, ExplainsEveryValueThatColumnsTakeFromAList) {
  expect_all("phase", Phase::communication);
  expect_all("class", KernelClass::other);
  expect_all("limiter", OccupancyLimiter::blocks);
  expect_all("bound", Bound::unknown);
  expect_all("opener", Opener::unknown);
  expect_all("reason", SyncReason::pageable_copy);
  expect_all("path", PathPart::wait);
  expect_all("copy", CopyKind::memset);
  expect_all("memory", MemoryKind::managed);
  expect_all("status", CheckStatus::bad);
}

TEST(Glossary, ExplainsTheUnitOfEveryColumn) {
  for (const Report& report : all_reports()) {
    for (const ColumnSpec& column : report.columns) {
      EXPECT_TRUE(column.unit.empty() || explained("unit", column.unit)) << column.unit;
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
