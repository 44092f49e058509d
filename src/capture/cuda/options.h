// The options of the CUDA part, from FATHOM_OPTIONS.
#pragma once

#include <cstddef>
#include <string_view>

namespace fathom::cuda {

struct Options {
  bool record = true;  ///< "cuda": false leaves CUDA alone.
  bool beside_torch =
      false;                 ///< "cuda_beside_torch": also where PyTorch has a profiler of its own.
  bool graph_nodes = false;  ///< "cuda_graph_nodes": each node of a graph, at its price.
  bool range_only = false;   ///< From cudaProfilerStart() to Stop(): "range": "cuda-profiler".
  double metrics_hz = 0;     ///< "gpu_metrics_hz": samples of hardware counters; 0: none.
  bool libraries = false;    ///< "with": [… "libraries"]: calls of cuBLAS and cuDNN.
  int signal = 0;            ///< "on_signal": "SIGUSR2" begins and ends recording; 0: none.
  std::size_t max_bytes = std::size_t{256} << 20;  ///< "max_memory_bytes", for CUPTI's buffers.
};

Options options_of(std::string_view json);

}  // namespace fathom::cuda
