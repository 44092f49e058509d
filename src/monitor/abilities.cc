// Checks which sources of telemetry can be opened here.
#include "monitor/abilities.h"

#include <unistd.h>

#include "monitor/lane_run.h"

namespace fathom::monitor {
namespace {

/// Nothing is recorded while one asks.
class NoSink : public SampleSink {
 public:
  std::uint32_t counter(std::int32_t /*pid*/, std::int32_t /*device*/, std::string_view /*name*/,
                        std::string_view /*unit*/) override {
    return 0;
  }
  void sample(std::int64_t /*time*/, std::uint32_t /*counter*/, double /*value*/) override {}
  void lose(std::int64_t /*time*/, std::string_view /*what*/) override {}
};

}  // namespace

std::vector<Ability> telemetry_abilities(const Roots& roots, const std::string& nvml_path) {
  NoSink sink;
  Series series(sink);
  ProcessTree tree(roots,
                   {.root = static_cast<std::int32_t>(::getpid()), .launcher = 0, .session = {}});
  Surroundings surroundings{.roots = roots, .tree = tree, .nvml_path = nvml_path};
  std::vector<Ability> abilities;
  for (const SourceSpec& source : all_sources()) {
    const Opened opened = open_source(source, surroundings, series);
    if (opened.source) abilities.push_back(able(std::string(source.title)));
    for (const Missing& missing : opened.missing) {
      abilities.push_back({.what = missing.what,
                           .available = false,
                           .why = missing.why,
                           .remedy = missing.remedy,
                           .lost = missing.lost,
                           .source = source.name,
                           .whole_source = missing.whole_source});
    }
  }
  return abilities;
}

}  // namespace fathom::monitor
