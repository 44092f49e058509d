// How long one what-if takes once the graph of a recording is built, and what building it costs.
// what_if_bench [TRACE…]: without a trace, the example. Reading is not measured. A what-if replays
// the steps that stand for all; "of all events" replays the whole recording, which none needs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/session.h"
#include "engine/whatif/what_if_edits.h"
#include "replay/replay.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 5;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The median of several runs.
template <typename Work>
double median_ms(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) {
    const Clock::time_point begin = Clock::now();
    work();
    times.push_back(ms_since(begin));
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

struct Case {
  const char* name;
  WhatIfRequest request;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"scale forward", {.scale = {"phase:forward=0.5"}}});
  all.push_back({"scale kernels", {.scale = {"kernel:.=0.5"}}});
  all.push_back({"fuse elementwise", {.fuse = {"elementwise"}}});
  all.push_back({"remove syncs", {.remove_syncs = true}});
  all.push_back({"overlap input", {.overlap_input = true}});
  all.push_back({"launch once", {.launch_once = true}});
  all.push_back({"pin copies", {.pin_copies = true}});
  all.push_back({"hide communication", {.hide_communication = true}});
  return all;
}

bool measure(const std::string& path) {
  const Result<std::unique_ptr<Session>> opened = Session::open(path, {});
  if (!opened) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), opened.error().message.c_str());
    return false;
  }
  const Session& session = **opened;
  const Context context{session.trace(), session.analyses(), {}, {}};
  Clock::time_point begin = Clock::now();
  static_cast<void>(context.phases());
  static_cast<void>(context.steps());
  static_cast<void>(context.timelines());
  const double analyses = ms_since(begin);
  begin = Clock::now();
  const Replay replay = Replay::for_predictions(context);
  std::printf("%s\n  events %zu, nodes %zu, steps replayed %zu\n", path.c_str(),
              session.trace().slices.size(), replay.nodes(), replay.run({}).steps.size());
  std::printf("  analyses %.1f ms, graph %.1f ms\n", analyses, ms_since(begin));
  const Replay whole = Replay::build(context);
  for (const Case& each : cases()) {
    const Result<WhatIfEdits> edits = what_if_edits(context, each.request);
    if (!edits) continue;  // nothing of that in the trace
    const double finding = median_ms([&] { (void)what_if_edits(context, each.request).ok(); });
    const double running = median_ms([&] { (void)replay.run(edits->best).median; });
    const double everything = median_ms([&] { (void)whole.activities(edits->best); });
    std::printf("  %-20s edits %7.1f ms, what-if %7.1f ms, of all events %7.1f ms\n", each.name,
                finding, running, everything);
  }
  return true;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  if (paths.empty())
    paths.emplace_back(FATHOM_SOURCE_DIR "/examples/resnet50_v100.pt.trace.json.gz");
  const auto failed =
      std::ranges::count_if(paths, [](const std::string& path) { return !fathom::measure(path); });
  return failed == 0 ? 0 : 3;
}
