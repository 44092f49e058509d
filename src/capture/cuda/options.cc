// Reads the options of the CUDA part from FATHOM_OPTIONS.
#include "capture/cuda/options.h"

#include <string>

#include <signal.h>

#include "capture/inside/settings.h"

namespace fathom::cuda {
namespace {

struct Signal {
  std::string_view name;
  int number;
};
/// Those that a program can be sent and live on.
constexpr Signal kSignals[] = {
    {"SIGHUP", SIGHUP},       {"SIGINT", SIGINT},     {"SIGQUIT", SIGQUIT}, {"SIGUSR1", SIGUSR1},
    {"SIGUSR2", SIGUSR2},     {"SIGPIPE", SIGPIPE},   {"SIGALRM", SIGALRM}, {"SIGTERM", SIGTERM},
    {"SIGCHLD", SIGCHLD},     {"SIGCONT", SIGCONT},   {"SIGURG", SIGURG},   {"SIGPROF", SIGPROF},
    {"SIGVTALRM", SIGVTALRM}, {"SIGWINCH", SIGWINCH}, {"SIGIO", SIGIO},     {"SIGPWR", SIGPWR},
};

int number_of(std::string_view name) {
  for (const Signal& signal : kSignals)
    if (signal.name == name) return signal.number;
  return 0;
}

/// Whether the list that the key has holds the word.
bool has_word(std::string_view json, std::string_view key, std::string_view word) {
  const std::size_t at = json.find('"' + std::string(key) + "\":");
  if (at == std::string_view::npos) return false;
  const std::string_view list = json.substr(at, json.find(']', at) - at);
  return list.find('"' + std::string(word) + '"') != std::string_view::npos;
}

}  // namespace

Options options_of(std::string_view json) {
  using inside::number_in;
  Options options;
  options.record = number_in(json, "cuda", 1) != 0;
  options.beside_torch = number_in(json, "cuda_beside_torch", 0) != 0;
  options.graph_nodes = number_in(json, "cuda_graph_nodes", 0) != 0;
  options.range_only =
      inside::text_in(json, "range") == "cuda-profiler" || number_in(json, "from_start", 1) == 0;
  const double hz = number_in(json, "gpu_metrics_hz", 0);
  if (hz > 0 && hz < 1e9) options.metrics_hz = hz;
  options.libraries = has_word(json, "with", "libraries");
  options.signal = number_of(inside::text_in(json, "on_signal"));
  constexpr double kLeast = 1 << 22;
  const double bytes = number_in(json, "max_memory_bytes", 0);
  if (bytes >= kLeast && bytes < 1e15) options.max_bytes = static_cast<std::size_t>(bytes);
  return options;
}

}  // namespace fathom::cuda
