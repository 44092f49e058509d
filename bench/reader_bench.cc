// Reading the example trace from memory: plain and gzip, one thread and all; and what its parts
// cost.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/byte_source.h"
#include "formats/format.h"

namespace {

using fathom::ByteSource;
using fathom::Format;

const std::string& compressed() {
  static const std::string bytes = [] {
    std::ifstream file(FATHOM_SOURCE_DIR "/examples/resnet50_v100.pt.trace.json.gz",
                       std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

std::unique_ptr<ByteSource> open(const std::string& text) {
  auto source = fathom::open_bytes(std::as_bytes(std::span(text)));
  return source ? std::move(*source) : nullptr;
}

const std::string& plain() {
  static const std::string text = [] {
    const std::unique_ptr<ByteSource> source = open(compressed());
    std::string all;
    std::vector<std::byte> block(std::size_t{1} << 20);
    for (;;) {
      const auto got = source->read(block);
      if (!got || *got == 0) return all;
      all.append(reinterpret_cast<const char*>(block.data()), *got);
    }
  }();
  return text;
}

const Format& chrome_json() {
  return *std::ranges::find(fathom::all_formats(), "chrome-json", &Format::id);
}

void read(benchmark::State& state, const std::string& bytes, unsigned threads) {
  const Format& format = chrome_json();
  std::size_t slices = 0;
  for (auto _ : state) {
    const std::unique_ptr<ByteSource> source = open(bytes);
    const auto trace = format.read(*source, {.threads = threads});
    slices = trace->slices.size();
    benchmark::DoNotOptimize(slices);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(plain().size()));
  state.counters["input_bytes"] = static_cast<double>(bytes.size());
  state.counters["slices"] = static_cast<double>(slices);
}

void plain_one_thread(benchmark::State& state) { read(state, plain(), 1); }
void plain_all_threads(benchmark::State& state) {
  read(state, plain(), std::thread::hardware_concurrency());
}
void gzip_one_thread(benchmark::State& state) { read(state, compressed(), 1); }
void gzip_all_threads(benchmark::State& state) {
  read(state, compressed(), std::thread::hardware_concurrency());
}

void inflate_alone(benchmark::State& state) {
  std::vector<std::byte> block(std::size_t{512} << 10);
  for (auto _ : state) {
    const std::unique_ptr<ByteSource> source = open(compressed());
    for (;;) {
      const auto got = source->read(block);
      if (!got || *got == 0) break;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(plain().size()));
}

BENCHMARK(plain_one_thread)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(plain_all_threads)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gzip_one_thread)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gzip_all_threads)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(inflate_alone)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
