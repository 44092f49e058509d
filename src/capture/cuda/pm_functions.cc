// Finds CUPTI's functions for sampling, by dlsym.
#include "capture/cuda/pm_functions.h"

#include <dlfcn.h>

namespace fathom::cuda {
namespace {

/// Where it lies, with its slash; empty where the loader found it by name.
std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string() : file.substr(0, slash + 1);
}

}  // namespace

bool load_pm(const std::string& file, PmFunctions& functions, std::string& missing) {
  const std::string folder = folder_of(file);
  if (!folder.empty()) {
    // Whichever is not there is looked for by CUPTI itself, which reports it.
    for (const char* const helper : {"libnvperf_host.so", "libnvperf_target.so"})
      dlopen((folder + helper).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  missing.clear();
  const auto need = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        library == nullptr ? nullptr : dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  need("cuptiProfilerHostInitialize", functions.host_begin);
  need("cuptiProfilerHostDeinitialize", functions.host_end);
  need("cuptiProfilerHostConfigAddMetrics", functions.add_metrics);
  need("cuptiProfilerHostGetConfigImageSize", functions.image_size);
  need("cuptiProfilerHostGetConfigImage", functions.image);
  need("cuptiProfilerHostGetNumOfPasses", functions.passes);
  need("cuptiProfilerHostEvaluateToGpuValues", functions.evaluate);
  need("cuptiProfilerInitialize", functions.initialize);
  need("cuptiDeviceGetChipName", functions.chip_name);
  need("cuptiPmSamplingGetCounterAvailability", functions.availability);
  need("cuptiPmSamplingEnable", functions.enable);
  need("cuptiPmSamplingSetConfig", functions.set_config);
  need("cuptiPmSamplingStart", functions.start);
  need("cuptiPmSamplingStop", functions.stop);
  need("cuptiPmSamplingGetCounterDataSize", functions.data_size);
  need("cuptiPmSamplingCounterDataImageInitialize", functions.data_begin);
  need("cuptiPmSamplingDecodeData", functions.decode);
  need("cuptiPmSamplingGetCounterDataInfo", functions.data_info);
  need("cuptiPmSamplingCounterDataGetSampleInfo", functions.sample_info);
  return missing.empty();
}

}  // namespace fathom::cuda
