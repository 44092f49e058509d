#include "render/diagnosis_html.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Diagnosis some_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.input = "<img src=x>.json";
  diagnosis.verdict.sentence = "The device waits for \"x\" & <script>alert(1)</script>.";
  diagnosis.device = 0;
  diagnosis.usual_account.time[static_cast<std::size_t>(Bucket::compute)] = duration_ns(300);
  diagnosis.usual_account.time[static_cast<std::size_t>(Bucket::input)] = duration_ns(100);
  return diagnosis;
}

TEST(DiagnosisHtml, NamesAndSentencesAreText) {
  const std::string html = render_diagnosis_html(some_diagnosis());
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
}

TEST(DiagnosisHtml, TheBarHasTheSharesOfTheUsualStep) {
  const std::string html = render_diagnosis_html(some_diagnosis());
  EXPECT_NE(html.find("class=\"b-compute\" style=\"width:75.00%\""), std::string::npos) << html;
  EXPECT_NE(html.find("class=\"b-input\" style=\"width:25.00%\""), std::string::npos);
}

TEST(DiagnosisHtml, AlternativesClaimNoTimeTwiceAndHaveTheirEvidence) {
  RankedFinding other;
  other.finding.title = "Work <between> launches";
  other.finding.evidence.emplace_back();
  other.finding.evidence.back().text = "3 gaps & more";
  other.observed = duration_ns(1000);
  other.upper_bound = duration_ns(10);
  Diagnosis diagnosis = some_diagnosis();
  diagnosis.findings.emplace_back();
  diagnosis.findings.front().alternatives = {other};
  const std::string html = render_diagnosis_html(diagnosis);
  EXPECT_NE(html.find("Work &lt;between&gt; launches: recovers the same time<br>3 gaps &amp; more"),
            std::string::npos)
      << html;
}

TEST(DiagnosisHtml, WithoutFindingsItSaysSo) {
  EXPECT_NE(render_diagnosis_html(some_diagnosis()).find("No rule found anything to change."),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
