// Requests with different answers are different questions.
#include "engine/diagnosis/diagnosis_question.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(DiagnosisQuestion, DiffersWithEachPartOfTheRequest) {
  std::vector<DiagnosisRequest> requests(15);
  requests[1].steps = Selection::StepRange{.first = 0, .last = 0};
  requests[2].steps = Selection::StepRange{.first = 3, .last = 7};
  requests[3].steps = Selection::StepRange{.first = 3, .last = 8};
  requests[4].device = 0;
  requests[5].device = 1;
  requests[6].window = WindowRequest{};
  requests[7].window = WindowRequest{.begin = Duration(5), .end = Duration(9)};
  requests[8].window = WindowRequest{.begin = Duration(5), .end = Duration(10)};
  requests[9].exclude_warmup = true;
  requests[10].focus = "backward";
  requests[11].focus = "1:\n0";
  requests[12].price_per_kwh = 0.3;
  requests[13].price_per_kwh = 0.30000000000000004;
  requests[14].carbon_g_per_kwh = 0.3;
  std::set<std::string> questions;
  for (const DiagnosisRequest& request : requests) {
    for (const std::string_view input : {"a.json", "./a.json"}) {
      for (const std::string_view form : {"json", "text"})
        questions.insert(diagnosis_question(input, request, form).value());
    }
  }
  EXPECT_EQ(questions.size(), requests.size() * 4);
  EXPECT_EQ(diagnosis_question("a", requests[2], "json"),
            diagnosis_question("a", requests[2], "json"));
}

TEST(DiagnosisQuestion, IsNoneWhereMoreThanTheRecordingAnswers) {
  DiagnosisRequest request;
  request.rank = 0;
  EXPECT_FALSE(diagnosis_question("a", request, "json"));
  const DeviceSpec spec;
  request = {};
  request.peaks = &spec;
  EXPECT_FALSE(diagnosis_question("a", request, "json"));
}

}  // namespace
}  // namespace fathom
