// Each finding of a diagnosis has an id of its own: scripts name findings by it.
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "store/trace_builder.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

void expect_own_ids(const Session& session) {
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  ASSERT_TRUE(diagnosis.ok()) << diagnosis.error().message;
  std::set<std::string> ids;
  for (const RankedFinding& finding : diagnosis->findings)
    EXPECT_TRUE(ids.insert(finding.id).second) << finding.id;
}

class FindingIds : public testing::TestWithParam<std::string> {};

TEST_P(FindingIds, AreUniqueOnEveryRecording) {
  const Result<std::unique_ptr<Session>> session = Session::open(GetParam(), ReadOptions());
  ASSERT_TRUE(session.ok()) << session.error().message;
  expect_own_ids(**session);
}

TEST(FindingIdsOfMadeTraces, AreUniqueWhereTwoFunctionsStandInOneLine) {
  TraceBuilder builder;
  builder.step(1, 0, 100'000'000);
  builder.frame("train.py(1): main", 0, 100'000'000);
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = 10'000'000 * i;
    builder.frame(i % 2 == 0 ? "train.py(5): first" : "train.py(5): second", at, 9'000'000);
    builder.op("aten::mm", at + 9'100'000, 1000);
    builder.runtime("cudaLaunchKernel", at + 9'100'100, 500, i + 1);
    builder.kernel("gemm", at + 9'101'000, 500'000, i + 1);
  }
  const Session session(builder.build(), "two.json");
  expect_own_ids(session);
}

INSTANTIATE_TEST_SUITE_P(Recordings, FindingIds,
                         testing::ValuesIn(recordings({fs::path(FATHOM_SOURCE_DIR) /
                                                       "tests/illness"})),
                         name_of_recording);

}  // namespace
}  // namespace fathom
