// Spells a configuration as libkineto reads it.
#include "capture/attach/kineto_config.h"

#include <algorithm>
#include <chrono>

namespace fathom::capture {

std::string to_text(const KinetoConfig& config) {
  const auto wants = [&config](const char* extra) {
    return std::ranges::find(config.with, extra) != config.with.end() ? "true" : "false";
  };
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(config.duration).count();
  const auto warmup = std::chrono::duration_cast<std::chrono::seconds>(kKinetoWarmup).count();
  return "PROFILE_START_TIME=" + std::to_string(config.start_unix_ms) +
         "\nACTIVITIES_LOG_FILE=" + config.file +
         "\nACTIVITIES_DURATION_MSECS=" + std::to_string(ms) +
         "\nACTIVITIES_WARMUP_PERIOD_SECS=" + std::to_string(warmup) +
         "\nPROFILE_REPORT_INPUT_SHAPES=" + wants("shapes") +
         "\nPROFILE_PROFILE_MEMORY=" + wants("memory") + "\nPROFILE_WITH_STACK=" + wants("stacks") +
         "\nPROFILE_WITH_FLOPS=" + wants("flops") + "\nPROFILE_WITH_MODULES=false\n";
}

}  // namespace fathom::capture
