// Flat JSON of the launcher's, as in the recorder's settings.
#include "capture/cuda/options.h"

#include <string>

#include "capture/inside/settings.h"

namespace fathom::cuda {
namespace {

/// True if the key has this text. The launcher writes no spaces but one after the colon.
bool has_text(std::string_view json, std::string_view key, std::string_view text) {
  const std::string start = '"' + std::string(key) + "\":";
  const std::string value = '"' + std::string(text) + '"';
  const std::size_t at = json.find(start);
  if (at == std::string_view::npos) return false;
  json.remove_prefix(at + start.size());
  const std::size_t first = json.find_first_not_of(" \t\n");
  return first != std::string_view::npos && json.substr(first).starts_with(value);
}

}  // namespace

Options options_of(std::string_view json) {
  using inside::number_in;
  Options options;
  options.record = number_in(json, "cuda", 1) != 0;
  options.beside_torch = number_in(json, "cuda_beside_torch", 0) != 0;
  options.graph_nodes = number_in(json, "cuda_graph_nodes", 0) != 0;
  options.range_only =
      has_text(json, "range", "cuda-profiler") || number_in(json, "from_start", 1) == 0;
  constexpr double kLeast = 1 << 22;
  const double bytes = number_in(json, "max_memory_bytes", 0);
  if (bytes >= kLeast && bytes < 1e15) options.max_bytes = static_cast<std::size_t>(bytes);
  return options;
}

}  // namespace fathom::cuda
