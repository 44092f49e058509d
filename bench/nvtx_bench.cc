// What a range pair of NVTX costs under libfathom_nvtx.so, beside an injection that does nothing.
//
// NVTX takes one injection in a process, so the program starts itself again, in turns: with ours
// and with the empty one. Each says the best of its rounds of every kind of pair; a round is a
// burst that fits into memory, as programs make them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <nvtx3/nvToolsExt.h>
#include <time.h>

namespace {

constexpr int kTurns = 5;
constexpr int kRounds = 100;
constexpr std::uint64_t kPairs = 5'000;

nvtxEventAttributes_t event_of(std::int32_t type, nvtxMessageValue_t message) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = type;
  event.message = message;
  return event;
}

nvtxDomainHandle_t domain() {
  static nvtxDomainHandle_t const made = nvtxDomainCreateA("bench");
  return made;
}

void text() {
  nvtxRangePushA("forward");
  nvtxRangePop();
}

void changing_text() {
  static std::uint64_t count = 0;
  char name[] = "iteration 0";
  name[sizeof name - 2] = static_cast<char>('0' + count++ % 10);
  nvtxRangePushA(name);
  nvtxRangePop();
}

void registered() {
  static nvtxStringHandle_t const name = nvtxDomainRegisterStringA(domain(), "forward");
  nvtxMessageValue_t message;
  message.registered = name;
  const nvtxEventAttributes_t event = event_of(NVTX_MESSAGE_TYPE_REGISTERED, message);
  nvtxDomainRangePushEx(domain(), &event);
  nvtxDomainRangePop(domain());
}

void everything() {
  nvtxMessageValue_t message;
  message.ascii = "forward";
  nvtxEventAttributes_t event = event_of(NVTX_MESSAGE_TYPE_ASCII, message);
  event.category = 3;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff8000ff;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = 12;
  nvtxDomainRangePushEx(domain(), &event);
  nvtxDomainRangePop(domain());
}

void started() { nvtxRangeEnd(nvtxRangeStartA("forward")); }

struct Kind {
  const char* name;
  void (*pair)();
};
constexpr Kind kKinds[] = {{"push and pop, text", text},
                           {"push and pop, changing text", changing_text},
                           {"domain, registered text", registered},
                           {"domain, text, category, colour, payload", everything},
                           {"start and end, text", started}};

double measure(void (*pair)()) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kPairs; ++i) pair();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(kPairs));
    // What was noted down is written meanwhile.
    constexpr timespec kRest{0, 2'000'000};
    nanosleep(&kRest, nullptr);
  }
  return best;
}

int child() {
  for (const Kind& kind : kKinds) std::printf("%.2f\n", measure(kind.pair));
  return 0;
}

/// The best of each kind, or fewer when the child failed.
std::vector<double> run(const std::string& self, const std::string& injection) {
  const std::string command = "NVTX_INJECTION64_PATH='" + injection + "' '" + self + "' --child";
  std::vector<double> times;
  FILE* const pipe = popen(command.c_str(), "r");
  double time = 0;
  while (pipe != nullptr && std::fscanf(pipe, "%lf", &time) == 1) times.push_back(time);
  if (pipe != nullptr) pclose(pipe);
  return times;
}

void keep_best(std::vector<double>& best, const std::vector<double>& times) {
  if (best.empty()) best = times;
  for (std::size_t i = 0; i < std::min(best.size(), times.size()); ++i)
    best[i] = std::min(best[i], times[i]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return child();
  char folder[] = "/tmp/fathom_nvtx_bench.XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  setenv("FATHOM_SESSION", folder, 1);
  std::vector<double> empty;
  std::vector<double> ours;
  for (int turn = 0; turn < kTurns; ++turn) {
    keep_best(empty, run(argv[0], NVTX_EMPTY));
    keep_best(ours, run(argv[0], NVTX_OURS));
  }
  if (empty.size() != std::size(kKinds) || ours.size() != std::size(kKinds)) return 1;
  std::printf("%-42s %8s %8s %8s\n", "ns a pair", "empty", "fathom", "beyond");
  for (std::size_t i = 0; i < std::size(kKinds); ++i)
    std::printf("%-42s %8.1f %8.1f %8.1f\n", kKinds[i].name, empty[i], ours[i], ours[i] - empty[i]);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
