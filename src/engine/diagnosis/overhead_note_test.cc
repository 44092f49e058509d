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
  return overhead_note(trace, verdict, true).find("artefact") != std::string::npos;
}

TEST(OverheadNote, DoubtsAVerdictThatRecordingMayHaveMade) {
  EXPECT_TRUE(doubts(measured("1.3", "0.05"), VerdictId::host_bound));
  EXPECT_TRUE(doubts(measured("1.3", "0.05"), VerdictId::input_bound));
}

TEST(OverheadNote, TellsASmallCostWithoutDoubt) {
  const Trace trace = measured("1.04", "0.01");
  EXPECT_FALSE(overhead_note(trace, VerdictId::host_bound, true).empty());
  EXPECT_FALSE(doubts(trace, VerdictId::host_bound));
}

TEST(OverheadNote, DoubtsNothingWithinTheNoise) {
  EXPECT_FALSE(doubts(measured("1.3", "0.4"), VerdictId::host_bound));
}

TEST(OverheadNote, DoubtsNothingWhereTheRatioMayBeOne) {
  Trace trace = measured("1.3", "0.05");
  trace.facts.push_back({"overhead.ratio_interval", "[0.9,1.9]"});
  EXPECT_FALSE(doubts(trace, VerdictId::host_bound));
  trace.facts.back().value = "[1.1,1.9]";
  EXPECT_TRUE(doubts(trace, VerdictId::host_bound));
}

TEST(OverheadNote, NamesAnotherCauseWhereRecordingCostsFarLess) {
  const std::string note = overhead_note(measured("3.9", "0.05"), VerdictId::compute_bound, false);
  EXPECT_EQ(note.find("artefact"), std::string::npos) << note;
  EXPECT_NE(note.find("the machine was busier"), std::string::npos) << note;
}

TEST(OverheadNote, SaysNothingWhereNothingWasMeasured) {
  EXPECT_EQ(overhead_note(Trace(), VerdictId::host_bound, true), "");
}

}  // namespace
}  // namespace fathom
