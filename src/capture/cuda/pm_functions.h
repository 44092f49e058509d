// The functions of CUPTI (12.6 and later) that sample hardware counters, found at run time.
#pragma once

#include <string>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

namespace fathom::cuda {

struct PmFunctions {
  // The host's part: which metrics a chip has, and what counters make of them. Needs no GPU.
  decltype(&::cuptiProfilerHostInitialize) host_begin = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_end = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) image_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) image = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  // The GPU's part.
  decltype(&::cuptiProfilerInitialize) initialize = nullptr;
  decltype(&::cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&::cuptiPmSamplingGetCounterAvailability) availability = nullptr;
  decltype(&::cuptiPmSamplingEnable) enable = nullptr;
  decltype(&::cuptiPmSamplingSetConfig) set_config = nullptr;
  decltype(&::cuptiPmSamplingStart) start = nullptr;
  decltype(&::cuptiPmSamplingStop) stop = nullptr;
  decltype(&::cuptiPmSamplingGetCounterDataSize) data_size = nullptr;
  decltype(&::cuptiPmSamplingCounterDataImageInitialize) data_begin = nullptr;
  decltype(&::cuptiPmSamplingDecodeData) decode = nullptr;
  decltype(&::cuptiPmSamplingGetCounterDataInfo) data_info = nullptr;
  decltype(&::cuptiPmSamplingCounterDataGetSampleInfo) sample_info = nullptr;
};

/// Of the libcupti that was opened from this file. It finds its helpers, libnvperf_host.so and
/// libnvperf_target.so, only where the loader looks; those beside it are loaded first. False, with
/// the name of what is missing, for a libcupti before CUDA 12.6.
bool load_pm(const std::string& file, PmFunctions& functions, std::string& missing);

/// Parameters of CUPTI: with their size, and else empty. `size` is the type's …_STRUCT_SIZE, or
/// less where a field was added that older libraries do not take.
template <typename Parameters>
Parameters pm_parameters(std::size_t size) {
  Parameters parameters{};
  parameters.structSize = size;
  return parameters;
}

/// Asks with the size that is set; where that is refused, with another. CUPTI takes a structure of
/// its own size only.
template <typename Parameters>
CUptiResult ask_sized(CUptiResult (*function)(Parameters*), Parameters& parameters,
                      std::size_t other) {
  const CUptiResult result = function(&parameters);
  if (result != CUPTI_ERROR_INVALID_PARAMETER || parameters.structSize == other) return result;
  parameters.structSize = other;
  return function(&parameters);
}

}  // namespace fathom::cuda
