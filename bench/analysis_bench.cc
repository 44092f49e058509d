// Each analysis and each report on the example trace, computed afresh.
#include <functional>
#include <string>

#include <benchmark/benchmark.h>

#include "analysis/context.h"
#include "formats/format.h"
#include "reports/report.h"

namespace {

using namespace fathom;

const Trace& example() {
  static const Trace trace = [] {
    Result<Trace> read =
        read_trace(FATHOM_SOURCE_DIR "/examples/resnet50_v100.pt.trace.json.gz", {});
    return read ? std::move(*read) : Trace();
  }();
  return trace;
}

void measure(benchmark::State& state, const std::function<void()>& compute) {
  for (auto _ : state) compute();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(example().slices.size()));
}

void nesting(benchmark::State& state) {
  measure(state, [] { benchmark::DoNotOptimize(compute_nesting(example()).overlaps); });
}

void links(benchmark::State& state) {
  const Nesting nested = compute_nesting(example());
  measure(state,
          [&nested] { benchmark::DoNotOptimize(compute_links(example(), nested).without_launch); });
}

void timelines(benchmark::State& state) {
  const Links linked = compute_links(example(), compute_nesting(example()));
  measure(state, [&linked] {
    benchmark::DoNotOptimize(compute_timelines(example(), linked).devices.size());
  });
}

/// A report with all the analyses it asks for.
void report(benchmark::State& state, const Report& which) {
  measure(state, [&which] {
    const Analyses analyses(example());
    const Context context{example(), analyses, {}, {}};
    const Result<Computed> computed = compute_report(which, context);
    if (computed) benchmark::DoNotOptimize(materialise(*computed->source, which.columns).rows());
  });
}

BENCHMARK(nesting)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(links)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(timelines)->Unit(benchmark::kMicrosecond)->UseRealTime();

/// The list of reports is known at run time only.
const bool kReportsRegistered = [] {
  for (const Report& which : all_reports()) {
    benchmark::RegisterBenchmark(("report/" + std::string(which.id)).c_str(),
                                 [&which](benchmark::State& state) { report(state, which); })
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
