#include "render/finding_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

RankedFinding slow_loop() {
  RankedFinding ranked;
  ranked.step = duration_ns(100'000'000);
  ranked.upper_bound = duration_ns(40'000'000);
  ranked.gain = RankedFinding::Gain{.low = duration_ns(10'000'000),
                                    .likely = duration_ns(30'000'000),
                                    .high = duration_ns(40'000'000)};
  ranked.number = 2;
  ranked.finding.title = "A loop";
  ranked.finding.evidence = {{.text = "One.", .slices = {}, .where = {}, .location = "train.py:3"},
                             {.text = "Two.", .slices = {}, .where = {}, .location = ""}};
  ranked.finding.counter_evidence = "Nothing.";
  ranked.finding.fix = {.text = "Write it as a tensor operation.",
                        .before = "for x in xs:\n    f(x)",
                        .after = "f(xs)"};
  return ranked;
}

TEST(FindingText, ShowsThePredictedSavingWithItsInterval) {
  EXPECT_EQ(finding_text(slow_loop(), "trace.json", Detail::saving, {}),
            "2. A loop\n"
            "   predicted  saves 30.00 ms of 100.0 ms (30.0 %; 10.0–40.0 %); effort: one line\n");
}

TEST(FindingText, CallsWhatIsNearlyNothingNothing) {
  RankedFinding ranked = slow_loop();
  ranked.gain.reset();
  ranked.upper_bound = duration_ns(50);
  ranked.percent = 0.00005;
  ranked.number = 0;
  EXPECT_EQ(finding_text(ranked, "trace.json", Detail::saving, {}),
            "•  A loop\n   predicted  saves no time by itself; effort: one line\n");
}

TEST(FindingText, OfSampledTimeItSaysThatTheSavingDependsOnTheChange) {
  RankedFinding ranked = slow_loop();
  ranked.finding.rule = "cpu-bound";
  ranked.gain.reset();
  ranked.observed = ranked.upper_bound = {};
  ranked.percent = 0;
  ranked.number = 0;
  EXPECT_EQ(finding_text(ranked, "trace.json", Detail::saving, {}),
            "•  A loop\n   predicted  no number: it depends on the change; effort: one line\n");
}

TEST(FindingText, NamesTheInputInTheCommandThatChecksTheChange) {
  RankedFinding ranked = slow_loop();
  ranked.finding.verify = "fathom gaps TRACE";
  const std::string text = finding_text(ranked, "a trace.json", Detail::full, {});
  EXPECT_NE(text.find("   check      fathom gaps 'a trace.json'\n"), std::string::npos) << text;
}

TEST(FindingText, NamesWhatElseWasFoundOfTheCause) {
  RankedFinding ranked = slow_loop();
  ranked.alternatives = {slow_loop()};
  ranked.alternatives.front().finding.title = "A slow loop";
  ranked.alternatives.front().finding.rule = "loops";
  Style style;
  style.width = 200;
  const std::string line =
      "   also       A slow loop; saves 30.00 ms of 100.0 ms (30.0 %; 10.0–40.0 %) on top (loops)";
  const std::string brief = finding_text(ranked, "trace.json", Detail::evidence, style);
  EXPECT_NE(brief.find(line + "\n"), std::string::npos) << brief;
  const std::string full = finding_text(ranked, "trace.json", Detail::full, style);
  EXPECT_NE(full.find(line + ". Write it as"), std::string::npos) << full;
}

TEST(FindingText, InFullAlternativesHaveTheirEvidence) {
  RankedFinding ranked = slow_loop();
  ranked.alternatives = {slow_loop()};
  Evidence at;
  at.text = "3 gaps";
  at.location = "loop.py:7";
  Evidence more;
  more.text = "of 2 ms";
  ranked.alternatives.front().finding.evidence = {at, more};
  Style style;
  style.width = 300;
  const std::string full = finding_text(ranked, "trace.json", Detail::full, style);
  EXPECT_NE(full.find(" Evidence: 3 gaps — loop.py:7; of 2 ms\n"), std::string::npos) << full;
  EXPECT_EQ(finding_text(ranked, "trace.json", Detail::code, style).find("3 gaps"),
            std::string::npos);
}

TEST(FindingText, NamesNoSavingOfAnAlternativeThatRecoversTheSameTime) {
  RankedFinding ranked = slow_loop();
  ranked.alternatives = {slow_loop()};
  RankedFinding& other = ranked.alternatives.front();
  other.observed = duration_ns(40'000'000);
  other.upper_bound = duration_ns(1'000'000);
  const std::string text = finding_text(ranked, "trace.json", Detail::evidence, {});
  EXPECT_NE(text.find("; recovers the same time ("), std::string::npos) << text;
}

TEST(FindingText, KeepsTheLinesOfCode) {
  const std::string text = finding_text(slow_loop(), "trace.json", Detail::code, {});
  EXPECT_NE(text.find("   before     for x in xs:\n                  f(x)\n"), std::string::npos)
      << text;
}

TEST(FindingText, ShowsMoreWithEachDetail) {
  std::size_t last = 0;
  for (const Detail detail :
       {Detail::saving, Detail::change, Detail::evidence, Detail::code, Detail::full}) {
    const std::string text = finding_text(slow_loop(), "trace.json", detail, {});
    EXPECT_GT(text.size(), last);
    last = text.size();
  }
}

TEST(FindingText, CutsAChangeThatHasNoRoomAtABlank) {
  RankedFinding ranked = slow_loop();
  ranked.finding.fix.text = "Write it as a tensor operation, all at once, and then measure again.";
  Style style;
  style.width = 50;
  const std::string text = finding_text(ranked, "trace.json", Detail::change, style);
  EXPECT_NE(text.find("   change     Write it as a tensor operation, …\n"), std::string::npos)
      << text;
}

TEST(FindingText, OfALongTitleInOneLineWhereItIsStaysAndWhatIsAddedGoes) {
  RankedFinding ranked = slow_loop();
  ranked.finding.title =
      "The program waits for 91.3 % of its time, longest for a time to pass (sleep): wait_for "
      "(polls.py:7); for 7.4 % of it, it waits for a processor";
  Style style;
  style.width = 60;
  const std::string text = finding_text(ranked, "trace.json", Detail::saving, style);
  EXPECT_NE(text.find("wait_for (polls.py:7)\n"), std::string::npos) << text;
}

TEST(FindingText, WrapsALongTitleWhereTheChangeIsShown) {
  RankedFinding ranked = slow_loop();
  ranked.finding.title = "The device waits for launches: 15.91 ms (9.0 % of the step)";
  Style style;
  style.width = 50;
  const std::string text = finding_text(ranked, "trace.json", Detail::change, style);
  EXPECT_EQ(text.find("2. The device waits for launches: 15.91 ms\n   (9.0 % of the step)\n"), 0U)
      << text;
  const std::string line = finding_text(ranked, "trace.json", Detail::saving, style);
  EXPECT_EQ(line.find("15.91 ms"), std::string::npos) << line;
  ranked.finding.title = "Call of " + std::string(100'000, 'x');
  EXPECT_LT(finding_text(ranked, "trace.json", Detail::change, style).size(), 1000U);
}

TEST(FindingText, NeverLetsANameReachTheTerminalRaw) {
  RankedFinding ranked = slow_loop();
  ranked.finding.title = "\x1b[2J";
  ranked.finding.fix.before = "\x1b]0;x\x07";
  const std::string text = finding_text(ranked, "trace.json", Detail::full, {});
  EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
}

}  // namespace
}  // namespace fathom
