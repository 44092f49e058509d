#include "engine/diagnosis/overhead_note.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Trace measured(const char* ratio, const char* noise) {
  Trace trace;
  trace.facts = {{"overhead.ratio", ratio}, {"overhead.noise", noise}};
  return trace;
}

bool doubts(const Trace& trace, VerdictId verdict) {
  return overhead_note(trace, verdict).find("artefact") != std::string::npos;
}

TEST(OverheadNote, DoubtsAVerdictThatRecordingMayHaveMade) {
  EXPECT_TRUE(doubts(measured("1.3", "0.05"), VerdictId::host_bound));
  EXPECT_TRUE(doubts(measured("1.3", "0.05"), VerdictId::input_bound));
}

TEST(OverheadNote, TellsASmallCostWithoutDoubt) {
  const Trace trace = measured("1.04", "0.01");
  EXPECT_FALSE(overhead_note(trace, VerdictId::host_bound).empty());
  EXPECT_FALSE(doubts(trace, VerdictId::host_bound));
}

TEST(OverheadNote, DoubtsNothingWithinTheNoise) {
  EXPECT_FALSE(doubts(measured("1.3", "0.4"), VerdictId::host_bound));
}

TEST(OverheadNote, SaysNothingWhereNothingWasMeasured) {
  EXPECT_EQ(overhead_note(Trace(), VerdictId::host_bound), "");
}

}  // namespace
}  // namespace fathom
