// Writing the example trace to nowhere, beside reading it: what `fathom export` costs.
#include <memory>
#include <span>
#include <string>

#include <benchmark/benchmark.h>

#include "base/byte_sink.h"
#include "export/writer.h"
#include "formats/format.h"

namespace {

constexpr const char* kExample = FATHOM_SOURCE_DIR "/examples/resnet50_v100.pt.trace.json.gz";

class Nowhere final : public fathom::ByteSink {
 public:
  fathom::Result<void> write(std::string_view bytes) override {
    benchmark::DoNotOptimize(bytes.data());
    return {};
  }
  fathom::Result<void> finish() override { return {}; }
};

const fathom::Trace& example() {
  static const fathom::Trace trace =
      std::move(*fathom::read_trace(kExample, fathom::ReadOptions{.threads = 1}));
  return trace;
}

void set_counters(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(example().slices.size()));
}

/// Of the uncompressed bytes; decompression is in it.
void read(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto trace = fathom::read_trace(kExample, {.threads = 1});
    bytes = trace->bytes_read;
  }
  set_counters(state, bytes);
}

void write(benchmark::State& state, const char* to, bool packed) {
  const fathom::Trace& trace = example();
  std::size_t bytes = 0;
  for (auto _ : state) {
    Nowhere nowhere;
    const std::unique_ptr<fathom::ByteSink> gzip = fathom::gzip_sink(nowhere);
    const auto done = fathom::find_writer(to)->write(
        trace, {}, packed ? *gzip : static_cast<fathom::ByteSink&>(nowhere));
    bytes = done->bytes;
  }
  set_counters(state, bytes);
}

void write_chrome(benchmark::State& state) { write(state, "chrome", false); }
void write_chrome_gzip(benchmark::State& state) { write(state, "chrome", true); }
void write_perfetto(benchmark::State& state) { write(state, "perfetto", false); }

BENCHMARK(read);
BENCHMARK(write_chrome);
BENCHMARK(write_chrome_gzip);
BENCHMARK(write_perfetto);

}  // namespace
