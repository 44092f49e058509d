// What the programs of the GPU check share: a kernel of a known length, and a JSON document of what
// was done.
//
// A program does a known amount of work, counts it, and prints one document to standard output:
//   {"schema": "fathom-gpu-program/1", "program", "possible", "reason", "tick_ns", "wall_ns",
//    "kernels": [{"name", "calls", "grid", "block", "shared_bytes", "least_ns", "most_ns"}],
//    "copies":  [{"kind", "source", "destination", "count", "bytes"}],
//    "calls":   [{"name", "calls", "blocked_ns"}],
//    "ranges":  [{"name", "domain", "calls"}], "graph": …, "overlap": …}
// tests/gpu/check.py holds a recording to it. Kernels have C names, so that nothing depends on
// demangling.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace gpu {

/// Ends the program with a document that says why it was not possible (exit code 0), for what the
/// device lacks.
[[noreturn]] inline void not_possible(const char* program, const std::string& reason) {
  std::printf(
      "{\"schema\": \"fathom-gpu-program/1\", \"program\": \"%s\", \"possible\": false, "
      "\"reason\": \"%s\"}\n",
      program, reason.c_str());
  std::exit(0);
}

/// Ends the program (exit code 1) unless `status` is success.
inline void check(cudaError_t status, const char* what, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(status));
  std::exit(1);
}

#define GPU_CHECK(call) ::gpu::check((call), #call, __LINE__)

/// Device code: returns once `ns` have passed on the device's clock since `begin`.
__device__ inline void spin_until(std::uint64_t begin, std::uint64_t ns) {
  std::uint64_t now = begin;
  while (now - begin < ns) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
}

__device__ inline std::uint64_t device_clock() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

extern "C" __global__ void fathom_tick(std::uint64_t* steps, int count) {
  std::uint64_t last = device_clock();
  for (int i = 0; i < count;) {
    const std::uint64_t now = device_clock();
    if (now == last) continue;
    steps[i++] = now - last;
    last = now;
  }
}

inline std::int64_t host_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What was done, counted by the program itself.
class Document {
 public:
  explicit Document(std::string program) : program_(std::move(program)), begin_(host_ns()) {}

  /// Kernels of that name and shape; each takes at least `least_ns`, and `most_ns` where that is
  /// known (else 0).
  void kernel(const std::string& name, dim3 grid, dim3 block, std::uint64_t least_ns,
              double most_ns = 0, int shared_bytes = 0) {
    Kernels& found = kernels_[{name, shape(grid), shape(block)}];
    ++found.calls;
    found.shared_bytes = shared_bytes;
    if (found.least_ns == 0 || least_ns < found.least_ns) found.least_ns = least_ns;
    if (most_ns > found.most_ns) found.most_ns = most_ns;
  }

  void copy(const std::string& kind, const std::string& source, const std::string& destination,
            std::uint64_t bytes) {
    auto& found = copies_[{kind, source, destination}];
    ++found.first;
    found.second += bytes;
  }

  /// A runtime call, which blocked the host for at least `blocked_ns`.
  void call(const std::string& name, std::int64_t blocked_ns = 0) {
    auto& found = calls_[name];
    ++found.first;
    found.second += blocked_ns;
  }

  /// Of NVTX; no domain is the default one.
  void range(const std::string& name, const std::string& domain = "") { ++ranges_[{name, domain}]; }

  /// Another member of the document, as JSON text.
  void member(const std::string& name, const std::string& json) { members_[name] = json; }

  void print() {
    std::string text =
        "{\"schema\": \"fathom-gpu-program/1\", \"program\": \"" + program_ +
        "\", \"possible\": true, \"reason\": \"\", \"tick_ns\": " + std::to_string(tick_ns_) +
        ", \"wall_ns\": " + std::to_string(host_ns() - begin_);
    text += ", \"kernels\": [" + kernels_text() + "], \"copies\": [";
    const char* comma = "";
    for (const auto& [key, value] : copies_) {
      text += comma + ("{\"kind\": \"" + std::get<0>(key) + "\", \"source\": \"" +
                       std::get<1>(key) + "\", \"destination\": \"" + std::get<2>(key) +
                       "\", \"count\": " + std::to_string(value.first) +
                       ", \"bytes\": " + std::to_string(value.second) + "}");
      comma = ", ";
    }
    text += "], \"calls\": [";
    comma = "";
    for (const auto& [name, value] : calls_) {
      text += comma + ("{\"name\": \"" + name + "\", \"calls\": " + std::to_string(value.first) +
                       ", \"blocked_ns\": " + std::to_string(value.second) + "}");
      comma = ", ";
    }
    text += "], \"ranges\": [";
    comma = "";
    for (const auto& [range, count] : ranges_) {
      text += comma + ("{\"name\": \"" + range.first + "\", \"domain\": \"" + range.second +
                       "\", \"calls\": " + std::to_string(count) + "}");
      comma = ", ";
    }
    text += "]";
    for (const auto& [name, json] : members_) text += ", \"" + name + "\": " + json;
    std::printf("%s}\n", text.c_str());
    std::fflush(stdout);
  }

  /// Reads how coarsely the device's clock ticks: a kernel's length is known to one tick. Launches
  /// `fathom_tick` once.
  void measure_tick() {
    constexpr int kSteps = 32;
    std::uint64_t* steps = nullptr;
    GPU_CHECK(cudaHostAlloc(&steps, kSteps * sizeof(std::uint64_t), cudaHostAllocMapped));
    fathom_tick<<<1, 1>>>(steps, kSteps);
    kernel("fathom_tick", 1, 1, 0);
    GPU_CHECK(cudaDeviceSynchronize());
    call("cudaDeviceSynchronize");
    for (int i = 0; i < kSteps; ++i) {
      if (steps[i] > tick_ns_) tick_ns_ = steps[i];
    }
    GPU_CHECK(cudaFreeHost(steps));
  }

 private:
  struct Kernels {
    int calls = 0;
    int shared_bytes = 0;
    std::uint64_t least_ns = 0;
    double most_ns = 0;
  };

  static std::string shape(dim3 size) {
    return std::to_string(size.x) + ", " + std::to_string(size.y) + ", " + std::to_string(size.z);
  }

  std::string kernels_text() const {
    std::string text;
    for (const auto& [key, value] : kernels_) {
      text += (text.empty() ? "{\"name\": \"" : ", {\"name\": \"") + std::get<0>(key) +
              "\", \"calls\": " + std::to_string(value.calls) + ", \"grid\": [" + std::get<1>(key) +
              "], \"block\": [" + std::get<2>(key) +
              "], \"shared_bytes\": " + std::to_string(value.shared_bytes) +
              ", \"least_ns\": " + std::to_string(value.least_ns) +
              ", \"most_ns\": " + std::to_string(static_cast<std::int64_t>(value.most_ns)) + "}";
    }
    return text;
  }

  std::string program_;
  std::int64_t begin_;
  std::uint64_t tick_ns_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, Kernels> kernels_;
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<int, std::uint64_t>>
      copies_;
  std::map<std::string, std::pair<int, std::int64_t>> calls_;
  std::map<std::pair<std::string, std::string>, int> ranges_;
  std::map<std::string, std::string> members_;
};

/// Times a stretch of a stream by two events of its own, in nanoseconds.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream = nullptr) : stream_(stream) {
    GPU_CHECK(cudaEventCreate(&begin_));
    GPU_CHECK(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() { GPU_CHECK(cudaEventRecord(begin_, stream_)); }
  void stop() { GPU_CHECK(cudaEventRecord(end_, stream_)); }
  /// Waits for the stretch.
  double ns() {
    GPU_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    GPU_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e6;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace gpu
