// What a table costs beyond the trace and its analyses: time, and the peak of what it allocates.
//
//   tables_bench [--gaps N] [--rounds N]
//
// The trace has N gaps, each with a launching operator and a kernel. Analyses are made before the
// clock starts; each figure is the best round.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <malloc.h>
#include <unistd.h>

#include "engine/session.h"
#include "render/json.h"
#include "store/trace_builder.h"

namespace {

// Analyses may use several threads; rounds use one.
std::atomic<std::size_t> in_use = 0;
std::atomic<std::size_t> peak = 0;

void* counted(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = in_use += malloc_usable_size(memory);
  if (now > peak) peak = now;
  return memory;
}

void discounted(void* memory) {
  in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { discounted(memory); }
void operator delete[](void* memory) noexcept { discounted(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { discounted(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { discounted(memory); }

namespace {

using namespace fathom;

Trace trace_with_gaps(std::int64_t gaps) {
  constexpr std::int64_t kPeriod = 20'000;
  const char* const names[] = {"aten::mm", "aten::add", "aten::relu", "aten::conv2d"};
  TraceBuilder builder;
  builder.frame("train.py(10): main", 0, gaps * kPeriod + kPeriod);
  for (std::int64_t i = 0; i < gaps; ++i) {
    const std::int64_t start = 1'000 + i * kPeriod;
    const std::int64_t delay = 5'000 + i * 7919 % 4'000;
    builder.op(names[i % 4], start, 9'000);
    builder.runtime("cudaLaunchKernel", start + 2'000, 3'000, i + 1);
    builder.kernel(i % 3 == 0 ? "gemm" : "elementwise", start + delay, 2'000 + i * 31 % 3'000,
                   i + 1);
  }
  return builder.build();
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Question {
  const char* name;
  const char* report;
  std::uint64_t limit;  // 0: all rows
  const char* sort;
  bool json;
};

constexpr Question kQuestions[] = {
    {"gaps --limit 5", "gaps", 5, "", false},
    {"gaps --limit 5 --sort python_line", "gaps", 5, "python_line", false},
    {"gaps", "gaps", 0, "", false},
    {"gaps --json", "gaps", 0, "", true},
    {"syncs --limit 5", "syncs", 5, "", false},
    {"kernels", "kernels", 0, "", false},
    {"launches", "launches", 0, "", false},
    {"ops", "ops", 0, "", false},
};

void ask(const Session& session, const Question& question) {
  Request request;
  request.query.sort = question.sort;
  if (question.limit != 0) request.query.limit = question.limit;
  const Result<View> view = session.run(*find_report(question.report), request);
  if (!view) {
    std::fprintf(stderr, "%s: %s\n", question.name, view.error().message.c_str());
    std::exit(1);
  }
  if (question.json && render_json(*view).empty()) std::exit(1);
}

void measure(const Session& session, const Question& question, int rounds, double trace_bytes) {
  ask(session, question);  // analyses
  double best = std::numeric_limits<double>::infinity();
  std::size_t most = std::numeric_limits<std::size_t>::max();
  for (int round = 0; round < rounds; ++round) {
    const std::size_t before = in_use;
    peak = before;
    const auto start = std::chrono::steady_clock::now();
    ask(session, question);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
    most = std::min(most, peak - before);
  }
  std::printf("%-36s %9.2f ms %9.3f MB %6.1f %% of the trace\n", question.name, best,
              static_cast<double>(most) / 1e6, 100 * static_cast<double>(most) / trace_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t gaps = 100'000;
  int rounds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--gaps") == 0) gaps = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  const std::size_t before = resident_bytes();
  Session session(trace_with_gaps(gaps), "trace");
  const double trace_bytes = static_cast<double>(resident_bytes() - before);
  std::printf("%lld gaps, trace of %.1f MB\n", static_cast<long long>(gaps), trace_bytes / 1e6);
  for (const Question& question : kQuestions) measure(session, question, rounds, trace_bytes);
  return 0;
}
