// Opening a trace for the first and for the second time: reading the example, against mapping what
// was kept of it. The ratio of the two is what the cache gives.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/byte_source.h"
#include "engine/inputs/trace_cache.h"
#include "formats/format.h"

namespace {

namespace fs = std::filesystem;

/// The example as plain JSON in a folder of its own, and a cache beside it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_bench_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    setenv("FATHOM_CACHE", (path_ / "cache").c_str(), 1);
    setenv("FATHOM_CACHE_FROM", "0", 1);
    std::ofstream out(input(), std::ios::binary);
    const auto source =
        fathom::open_source(FATHOM_SOURCE_DIR "/examples/resnet50_v100.pt.trace.json.gz");
    std::vector<std::byte> block(std::size_t{1} << 20);
    for (;;) {
      const auto got = (**source).read(block);
      if (!got || *got == 0) break;
      out.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(*got));
    }
    out.close();
    // Until the file is old enough to be kept.
    while (!fathom::TraceCache(input()).keeps()) {
    }
    static_cast<void>(fathom::read_kept_trace(input(), {}));
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string input() const { return (path_ / "trace.json").string(); }

 private:
  fs::path path_;
};

const Folder& folder() {
  static const Folder folder;
  return folder;
}

void count(benchmark::State& state, std::size_t slices) {
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(fs::file_size(folder().input())));
  state.counters["slices"] = static_cast<double>(slices);
}

void first_look(benchmark::State& state) {
  std::size_t slices = 0;
  for (auto _ : state) {
    const auto trace = fathom::read_trace(folder().input(), {});
    slices = trace->slices.size();
  }
  count(state, slices);
}

void second_look(benchmark::State& state) {
  std::size_t slices = 0;
  for (auto _ : state) {
    const auto trace = fathom::TraceCache(folder().input()).find();
    if (!trace) return state.SkipWithError("nothing was kept");
    slices = trace->slices.size();
  }
  count(state, slices);
}

BENCHMARK(first_look)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(second_look)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
