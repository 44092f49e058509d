// The part of the fake libcupti that samples hardware counters: a made-up GH100 that takes
// a sample whenever the interval is over. CUPTI_FAKE_PM says what goes wrong: refuse (no
// rights), busy (another profiler), no-helpers (libnvperf is missing), overflow and full (a
// hardware buffer for few samples, told in one way or the other), breaks (decoding fails after a
// while), none (the chip has none of the metrics). CUPTI_FAKE_PM_AHEAD puts its samples on a
// clock of their own.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <unistd.h>

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

/// Where a structure ends that CUPTI of CUDA 12 takes; larger ones it refuses.
template <typename Parameters>
bool sized(const Parameters* parameters, std::size_t size) {
  return parameters->structSize == size && parameters->pPriv == nullptr;
}

struct Host {
  std::vector<std::string> metrics;
};
Host* host_of(CUpti_Profiler_Host_Object* object) { return reinterpret_cast<Host*>(object); }

struct Image {
  std::uint32_t most = 0;
  std::uint32_t samples = 0;
};
struct Sample {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Sampling {
  std::mutex mutex;
  bool enabled = false;
  bool configured = false;
  bool running = false;
  bool stuck = false;
  std::uint64_t interval = 0;
  std::uint64_t next = 0;  // begin of the sample under way
  std::uint64_t stopped = 0;
  std::atomic<int> looks{0};
};
Sampling& sampling() {
  const fathom::test::Fed fed;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): outlives the program
  static auto* const made = new Sampling;
  return *made;
}
/// Nobody need wait for samples.
CUptiResult refused(CUptiResult result) {
  sampling().looks = std::numeric_limits<int>::max();
  return result;
}

bool is_ours(const CUpti_PmSampling_Object* object) {
  return reinterpret_cast<const Sampling*>(object) == &sampling();
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

/// Until samples were asked for so often, or it is clear that none will be.
[[gnu::visibility("default")]] void fake_wait_for_looks(int looks) {
  while (sampling().looks < looks) usleep(1000);
}

// What the driver does.

CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice /*device*/) {
  std::strncpy(text, "0000:3B:00.0", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}

// What CUPTI's host part does.

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  constexpr std::size_t kSize =
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject);
  if (!sized(p, kSize) || std::string_view(p->pChipName) != "GH100" ||
      p->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const fathom::test::Fed fed;
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  delete host_of(p->pHostObject);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  const fathom::test::Fed fed;
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    if (metric_of(p->ppMetricNames[i]) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    host_of(p->pHostObject)->metrics.emplace_back(p->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = host_of(p->pHostObject)->metrics.size();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  if (p->configImageSize != host_of(p->pHostObject)->metrics.size())
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memset(p->pConfigImage, 1, p->configImageSize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  p->numOfPasses = (p->configImageSize + kInOnePass - 1) / kInOnePass;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  Sample sample;
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    const Metric* const metric = metric_of(p->ppMetricNames[i]);
    if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    p->pMetricValues[i] = metric->value;
  }
  return sample_at(p->pCounterDataImage, p->rangeIndex, sample);
}

// What CUPTI's part for the GPU does.

CUptiResult cuptiGetDeviceId(CUcontext /*context*/, uint32_t* device) {
  *device = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* /*p*/) {
  return fault() == "no-helpers" ? refused(CUPTI_ERROR_NOT_INITIALIZED) : CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  p->pChipName = "GH100";
  return p->deviceIndex == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_DEVICE;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* p) {
  p->counterAvailabilityImageSize = 8;
  if (fault() == "none") refused(CUPTI_SUCCESS);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* p) {
  if (fault() == "refuse") return refused(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  if (fault() == "busy") return refused(CUPTI_ERROR_HARDWARE_BUSY);
  if (!sized(p, CUpti_PmSampling_Enable_Params_STRUCT_SIZE)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (sampling().enabled) return CUPTI_ERROR_INVALID_OPERATION;
  sampling().enabled = true;
  p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&sampling());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* p) {
  // The last field is of CUDA 12.8 and later.
  constexpr std::uint32_t kLonger = 26;
  constexpr std::size_t kShort =
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
  const bool is_long = fathom::test::fake_version() >= kLonger;
  if (!sized(p, is_long ? CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE : kShort))
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!is_ours(p->pPmSamplingObject) || p->configSize > kInOnePass || p->pConfig[0] != 1 ||
      p->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL ||
      p->hardwareBufferSize == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  sampling().interval = p->samplingInterval;
  sampling().configured = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* p) {
  Sampling& s = sampling();
  const std::lock_guard lock(s.mutex);
  if (!is_ours(p->pPmSamplingObject) || !s.configured || s.running)
    return CUPTI_ERROR_INVALID_OPERATION;
  s.running = true;
  s.stuck = false;
  s.next = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* p) {
  Sampling& s = sampling();
  const std::lock_guard lock(s.mutex);
  if (!is_ours(p->pPmSamplingObject) || !s.running) return CUPTI_ERROR_INVALID_OPERATION;
  s.running = false;
  s.stopped = now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* p) {
  if (p->numMetrics == 0 || p->maxSamples == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  p->counterDataSize = sizeof(Image) + p->maxSamples * sizeof(Sample);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* p) {
  Image head;
  head.most = static_cast<std::uint32_t>((p->counterDataSize - sizeof head) / sizeof(Sample));
  std::memcpy(p->pCounterData, &head, sizeof head);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* p) {
  Sampling& s = sampling();
  const std::lock_guard lock(s.mutex);
  if (!is_ours(p->pPmSamplingObject)) return CUPTI_ERROR_INVALID_OPERATION;
  const int looks = ++s.looks;
  // The program may wait for more.
  if (fault() == "breaks" && looks > kGoodLooks) return refused(CUPTI_ERROR_UNKNOWN);
  const bool small = fault() == "overflow" || fault() == "full";
  Image head;
  std::memcpy(&head, p->pCounterDataImage, sizeof head);
  const std::uint64_t until = s.running ? now() : s.stopped;
  // Another clock has come into the place of CUPTI's.
  constexpr std::uint64_t kFar = 100'000'000'000;
  if (until < s.next - s.interval || until > s.next + kFar) s.next = until - s.interval;
  while (!s.stuck && s.next + s.interval <= until && head.samples < head.most) {
    s.stuck = small && head.samples == kFew;
    if (s.stuck) break;
    const Sample sample{s.next, s.next + s.interval};
    std::memcpy(p->pCounterDataImage + sizeof head + head.samples * sizeof sample, &sample,
                sizeof sample);
    s.next = sample.end;
    ++head.samples;
  }
  std::memcpy(p->pCounterDataImage, &head, sizeof head);
  p->decodeStopReason = head.samples == head.most
                            ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                            : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  p->overflow = s.stuck && fault() == "overflow" ? 1 : 0;
  return s.stuck && fault() == "full" ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* p) {
  Image head;
  std::memcpy(&head, p->pCounterDataImage, sizeof head);
  p->numTotalSamples = head.most;
  p->numPopulatedSamples = p->numCompletedSamples = head.samples;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* p) {
  Sample sample;
  const CUptiResult result = sample_at(p->pCounterDataImage, p->sampleIndex, sample);
  p->startTimestamp = sample.begin;
  p->endTimestamp = sample.end;
  return result;
}

}  // extern "C"
