// What is made ahead is what the page asks for.
#include "server/diagnosis_ahead.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom::server {
namespace {

Result<std::string> nothing_kept() { return std::string("not kept"); }

TEST(DiagnosisAhead, IsKeptUnderThePagesQuestion) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 6; ++step) {
    builder.on_thread(1).step(step, step * 1000, 900);
    for (std::int64_t i = 0; i < 8; ++i) builder.op("aten::mm", step * 1000 + 100 * i, 90);
  }
  OpenInput input(std::make_shared<const Session>(builder.build(), "trace.json"));
  diagnose_ahead(input, {{"window", "0us:4us"}, {"steps", "1-3"}});
  // The page's options are in the order of the alphabet.
  const std::string asked = "\nsteps=1-3\nwindow=0us:4us";
  EXPECT_EQ(diagnosis_key({}, {{"steps", "1-3"}, {"window", "0us:4us"}}), asked);
  const Result<std::string> kept = input.diagnoses().get(asked, nothing_kept);
  ASSERT_TRUE(kept);
  EXPECT_NE(kept->find("\"schema\": \"fathom.diagnosis/1\""), std::string::npos);
  const Result<std::string> other = input.diagnoses().get("", nothing_kept);
  ASSERT_TRUE(other);
  EXPECT_EQ(*other, "not kept");
}

}  // namespace
}  // namespace fathom::server
