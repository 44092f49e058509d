// A configuration, spelled out.
#include "capture/attach/kineto_config.h"

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

TEST(KinetoConfig, IsSpelledAsLibkinetoReadsIt) {
  const std::string text = to_text({.file = "/tmp/a.json",
                                    .start_unix_ms = 17,
                                    .duration = std::chrono::milliseconds(2500),
                                    .with = {"shapes", "flops"}});
  EXPECT_EQ(text,
            "PROFILE_START_TIME=17\n"
            "ACTIVITIES_LOG_FILE=/tmp/a.json\n"
            "ACTIVITIES_DURATION_MSECS=2500\n"
            "ACTIVITIES_WARMUP_PERIOD_SECS=1\n"
            "PROFILE_REPORT_INPUT_SHAPES=true\n"
            "PROFILE_PROFILE_MEMORY=false\n"
            "PROFILE_WITH_STACK=false\n"
            "PROFILE_WITH_FLOPS=true\n"
            "PROFILE_WITH_MODULES=false\n");
}

}  // namespace
}  // namespace fathom::capture
