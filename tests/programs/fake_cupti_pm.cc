// The part of the fake libcupti that samples hardware counters: a made-up GH100 that takes
// a sample whenever the interval is over. CUPTI_FAKE_PM says what goes wrong: refuse (no
// rights), busy (another profiler), no-helpers (libnvperf is missing), overflow and full (a
// hardware buffer for few samples, told in one way or the other), breaks (decoding fails after a
// while), none (the chip has none of the metrics). CUPTI_FAKE_PM_AHEAD puts its samples on a
// clock of their own. Structures have the sizes that the library's version takes. The first sample
// after a start is an outlier, and after a stop it takes a new configuration to start again.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <unistd.h>

#include "capture/inside/never_freed.h"
#include "tests/programs/fake_cupti_rules.h"
#include "tests/programs/fed.h"

namespace {

struct Metric {
  std::string_view name;
  double value;
};
constexpr Metric kMetrics[] = {
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 50},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 25},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 100.4},
    {"dram__bytes_read.sum.per_second", 2e12},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", std::numeric_limits<double>::quiet_NaN()},
};
constexpr std::size_t kInOnePass = 4;
constexpr std::size_t kFew = 20;
constexpr int kGoodLooks = 3;
constexpr double kOutlier = 77;  // no metric has that value

std::string_view fault() {
  const char* const said = std::getenv("CUPTI_FAKE_PM");
  return said == nullptr ? "" : said;
}

std::uint64_t now() {
  std::uint64_t time = 0;
  cuptiGetTimestamp(&time);
  const char* const ahead = std::getenv("CUPTI_FAKE_PM_AHEAD");
  return time + (ahead == nullptr ? 0 : static_cast<std::uint64_t>(std::atoll(ahead)));
}

const Metric* metric_of(std::string_view name) {
  if (fault() == "none") return nullptr;
  const auto at = std::ranges::find(kMetrics, name, &Metric::name);
  return at == std::end(kMetrics) ? nullptr : at;
}

/// What a function is to answer: CUPTI_SUCCESS, unless it was given a structure of another size
/// than its own, or is to fail.
template <typename Parameters>
CUptiResult asked(const char* function, const Parameters* parameters, std::size_t size) {
  const CUptiResult result = fathom::test::called(function);
  if (result != CUPTI_SUCCESS) return result;
  return parameters->structSize == size && parameters->pPriv == nullptr
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

/// By version, as the headers of CUDA 12.6, 12.8, 12.9 and 13.5 have them; all other structures are
/// of one size in all of them.
std::size_t size_of_config() {
  constexpr std::uint32_t kLonger = 26;
  return fathom::test::fake_version() >= kLonger
             ? CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE
             : CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
}
std::size_t size_of_host() {
  constexpr std::uint32_t kLonger = 130200;
  return fathom::test::fake_version() >= kLonger
             ? CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE
             : CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject);
}

std::size_t gpus() {
  const char* const said = std::getenv("CUPTI_FAKE_GPUS");
  return said == nullptr ? 1 : static_cast<std::size_t>(std::atoi(said));
}

struct Host {
  std::vector<std::string> metrics;
};
Host* host_of(CUpti_Profiler_Host_Object* object) { return reinterpret_cast<Host*>(object); }
std::set<Host*>& hosts() { return fathom::inside::never_freed<std::set<Host*>>(); }

struct Image {
  std::uint32_t most = 0;
  std::uint32_t samples = 0;
};
struct Sample {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t outlier = 0;
};

struct Sampling {
  std::mutex mutex;
  bool enabled = false;
  bool configured = false;
  bool running = false;
  bool stuck = false;
  bool first = false;  // the next sample is the first since the start
  std::uint64_t interval = 0;
  std::uint64_t next = 0;  // begin of the sample under way
  std::uint64_t stopped = 0;
};
constexpr std::size_t kMostGpus = 4;
struct Machine {
  std::array<Sampling, kMostGpus> gpus;
  std::atomic<int> looks{0};
};
Machine& machine() {
  const fathom::test::Fed fed;
  return fathom::inside::never_freed<Machine>();
}
/// Nobody need wait for samples.
CUptiResult refused(CUptiResult result) {
  if (result != CUPTI_SUCCESS) machine().looks = std::numeric_limits<int>::max();
  return result;
}

/// The GPU that is sampled, or null.
Sampling* sampled(const CUpti_PmSampling_Object* object) {
  for (Sampling& gpu : machine().gpus)
    if (reinterpret_cast<const Sampling*>(object) == &gpu) return &gpu;
  return nullptr;
}

CUptiResult sample_at(const std::uint8_t* image, std::size_t index, Sample& sample) {
  Image head;
  std::memcpy(&head, image, sizeof head);
  if (index >= head.samples) return CUPTI_ERROR_INVALID_PARAMETER;
  std::memcpy(&sample, image + sizeof head + index * sizeof sample, sizeof sample);
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

/// Until samples were asked for so often, or it is clear that none will be: by an answer, or by
/// time.
[[gnu::visibility("default")]] void fake_wait_for_looks(int looks) {
  constexpr int kMostMs = 20'000;
  for (int ms = 0; ms < kMostMs && machine().looks < looks; ++ms) usleep(1000);
}

// What the driver does.

CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(gpus());
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%X:00.0", 0x3B + device);
  return CUDA_SUCCESS;
}

// What CUPTI's host part does.

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  // The other size may follow.
  const CUptiResult answer = asked(__func__, p, size_of_host());
  if (answer != CUPTI_SUCCESS)
    return answer == CUPTI_ERROR_INVALID_PARAMETER ? answer : refused(answer);
  if (std::string_view(p->pChipName) != "GH100" ||
      p->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const fathom::test::Fed fed;
  auto* const made = new Host;
  hosts().insert(made);
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(made);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return answer;
  if (hosts().erase(host_of(p->pHostObject)) == 0)
    fathom::test::broken("a host object was ended twice");
  delete host_of(p->pHostObject);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  const fathom::test::Fed fed;
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    if (metric_of(p->ppMetricNames[i]) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    host_of(p->pHostObject)->metrics.emplace_back(p->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  p->configImageSize = host_of(p->pHostObject)->metrics.size();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  if (p->configImageSize != host_of(p->pHostObject)->metrics.size())
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memset(p->pConfigImage, 1, p->configImageSize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  p->numOfPasses = (p->configImageSize + kInOnePass - 1) / kInOnePass;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Sample sample;
  const CUptiResult found = sample_at(p->pCounterDataImage, p->rangeIndex, sample);
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    const Metric* const metric = metric_of(p->ppMetricNames[i]);
    if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    p->pMetricValues[i] = sample.outlier != 0 ? kOutlier : metric->value;
  }
  return found;
}

// What CUPTI's part for the GPU does.

CUptiResult cuptiGetDeviceId(CUcontext /*context*/, uint32_t* device) {
  *device = 0;
  return fathom::test::called("cuptiGetDeviceId");
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  return fault() == "no-helpers" ? refused(CUPTI_ERROR_NOT_INITIALIZED) : CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  p->pChipName = "GH100";
  return p->deviceIndex < gpus() ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_DEVICE;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  p->counterAvailabilityImageSize = 8;
  if (fault() == "none") machine().looks = std::numeric_limits<int>::max();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  if (fault() == "refuse") return refused(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  if (fault() == "busy") return refused(CUPTI_ERROR_HARDWARE_BUSY);
  if (p->deviceIndex >= kMostGpus) return CUPTI_ERROR_INVALID_DEVICE;
  Sampling& gpu = machine().gpus[p->deviceIndex];
  if (gpu.enabled) return CUPTI_ERROR_INVALID_OPERATION;
  gpu.enabled = true;
  p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&gpu);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* p) {
  // The other size may follow.
  const CUptiResult answer = asked(__func__, p, size_of_config());
  if (answer != CUPTI_SUCCESS)
    return answer == CUPTI_ERROR_INVALID_PARAMETER ? answer : refused(answer);
  Sampling* const gpu = sampled(p->pPmSamplingObject);
  if (gpu == nullptr || p->configSize > kInOnePass || p->pConfig[0] != 1 ||
      p->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL ||
      p->hardwareBufferSize == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  gpu->interval = p->samplingInterval;
  gpu->configured = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Sampling* const gpu = sampled(p->pPmSamplingObject);
  if (gpu == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  const std::lock_guard lock(gpu->mutex);
  if (!gpu->configured || gpu->running) return refused(CUPTI_ERROR_INVALID_OPERATION);
  gpu->running = true;
  gpu->stuck = false;
  gpu->first = true;
  gpu->next = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Sampling* const gpu = sampled(p->pPmSamplingObject);
  if (gpu == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  const std::lock_guard lock(gpu->mutex);
  if (!gpu->running) return CUPTI_ERROR_INVALID_OPERATION;
  gpu->running = false;
  gpu->configured = false;
  gpu->stopped = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  if (p->numMetrics == 0 || p->maxSamples == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  p->counterDataSize = sizeof(Image) + p->maxSamples * sizeof(Sample);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Image head;
  head.most = static_cast<std::uint32_t>((p->counterDataSize - sizeof head) / sizeof(Sample));
  std::memcpy(p->pCounterData, &head, sizeof head);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* p) {
  const CUptiResult answer = asked(__func__, p, CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Sampling* const gpu = sampled(p->pPmSamplingObject);
  if (gpu == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  const std::lock_guard lock(gpu->mutex);
  const int looks = ++machine().looks;
  // The program may wait for more.
  if (fault() == "breaks" && looks > kGoodLooks) return refused(CUPTI_ERROR_UNKNOWN);
  const bool small = fault() == "overflow" || fault() == "full";
  Image head;
  std::memcpy(&head, p->pCounterDataImage, sizeof head);
  const std::uint64_t until = gpu->running ? now() : gpu->stopped;
  // Another clock has come into the place of CUPTI's.
  constexpr std::uint64_t kFar = 100'000'000'000;
  if (until < gpu->next - gpu->interval || until > gpu->next + kFar)
    gpu->next = until - gpu->interval;
  while (!gpu->stuck && gpu->next + gpu->interval <= until && head.samples < head.most) {
    gpu->stuck = small && head.samples == kFew;
    if (gpu->stuck) break;
    const Sample sample{gpu->next, gpu->next + gpu->interval,
                        std::exchange(gpu->first, false) ? 1ULL : 0ULL};
    std::memcpy(p->pCounterDataImage + sizeof head + head.samples * sizeof sample, &sample,
                sizeof sample);
    gpu->next = sample.end;
    ++head.samples;
  }
  std::memcpy(p->pCounterDataImage, &head, sizeof head);
  p->decodeStopReason = head.samples == head.most
                            ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                            : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  p->overflow = gpu->stuck && fault() == "overflow" ? 1 : 0;
  return gpu->stuck && fault() == "full" ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Image head;
  std::memcpy(&head, p->pCounterDataImage, sizeof head);
  p->numTotalSamples = head.most;
  p->numPopulatedSamples = p->numCompletedSamples = head.samples;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* p) {
  const CUptiResult answer =
      asked(__func__, p, CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
  if (answer != CUPTI_SUCCESS) return refused(answer);
  Sample sample;
  const CUptiResult result = sample_at(p->pCounterDataImage, p->sampleIndex, sample);
  p->startTimestamp = sample.begin;
  p->endTimestamp = sample.end;
  return result;
}

}  // extern "C"
