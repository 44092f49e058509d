#include "engine/glossary.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {
namespace {

TEST(Glossary, ExplainsEveryVerdict) {
  for (int id = 0; id <= static_cast<int>(VerdictId::cannot_tell); ++id) {
    EXPECT_NE(find_term(to_string(static_cast<VerdictId>(id))), nullptr) << id;
  }
}

TEST(Glossary, ExplainsEveryBucket) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    EXPECT_NE(find_term(to_string(static_cast<Bucket>(i))), nullptr) << i;
  }
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    EXPECT_NE(find_term(to_string(static_cast<HostBucket>(i))), nullptr) << i;
  }
}

TEST(Glossary, HasEachTermOnce) {
  for (const Term& term : all_terms()) {
    EXPECT_EQ(std::ranges::count(all_terms(), term.id, &Term::id), 1) << term.id;
  }
}

}  // namespace
}  // namespace fathom
