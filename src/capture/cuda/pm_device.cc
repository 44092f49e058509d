// Samples the hardware counters of one GPU through CUPTI.
#include "capture/cuda/pm_device.h"

#include <span>
#include <utility>

#include "capture/cuda/cpu_ticks.h"
#include "wire/writer.h"

namespace fathom::cuda {
namespace {

/// For raw records, some tens of KB a sample.
constexpr std::size_t kHardwareBytes = std::size_t{64} << 20;
/// Rounds of one look: a GPU that fills the image faster than we empty it is left for the next.
constexpr int kMostRounds = 64;

PmRefusal refusal(CUptiResult result, const char* question) {
  return result == CUPTI_SUCCESS ? PmRefusal{} : PmRefusal{result, question};
}

}  // namespace

PmRefusal PmDevice::ask_chip() {
  auto asked =
      pm_parameters<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  asked.deviceIndex = static_cast<std::size_t>(device_);
  const CUptiResult result = cupti_.chip_name(&asked);
  if (result == CUPTI_SUCCESS && asked.pChipName != nullptr) chip_ = asked.pChipName;
  return refusal(result, "cuptiDeviceGetChipName");
}

PmRefusal PmDevice::begin(const PmRates& rates) {
  auto initialize =
      pm_parameters<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (const CUptiResult result = cupti_.initialize(&initialize); result != CUPTI_SUCCESS)
    return refusal(result, "cuptiProfilerInitialize");
  if (PmRefusal asked = ask_chip(); asked.result != CUPTI_SUCCESS) return asked;
  auto available = pm_parameters<CUpti_PmSampling_GetCounterAvailability_Params>(
      CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  available.deviceIndex = static_cast<std::size_t>(device_);
  CUptiResult result = cupti_.availability(&available);
  std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability.data();
  if (result == CUPTI_SUCCESS && !availability.empty()) result = cupti_.availability(&available);
  if (result != CUPTI_SUCCESS) return refusal(result, "cuptiPmSamplingGetCounterAvailability");

  host_ = std::make_unique<PmHost>(cupti_, chip_, std::move(availability));
  if (result = host_->check(); result != CUPTI_SUCCESS)
    return refusal(result, "cuptiProfilerHostInitialize");
  plan_ = plan_pm(host_->chip(), rates);
  if (plan_.tracks.empty()) return {};
  std::vector<std::string> metrics;
  for (const PmTrack& track : plan_.tracks) metrics.push_back(track.metric);
  if (result = host_->choose(metrics, config_); result != CUPTI_SUCCESS)
    return refusal(result, "cuptiProfilerHostGetConfigImage");

  auto enable =
      pm_parameters<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  enable.deviceIndex = static_cast<std::size_t>(device_);
  if (result = cupti_.enable(&enable); result != CUPTI_SUCCESS)
    return refusal(result, "cuptiPmSamplingEnable");
  sampling_ = enable.pPmSamplingObject;
  if (PmRefusal configured = configure(); configured.result != CUPTI_SUCCESS) return configured;
  if (PmRefusal made = make_room(); made.result != CUPTI_SUCCESS) return made;
  return start();
}

PmRefusal PmDevice::configure() {
  auto asked = pm_parameters<CUpti_PmSampling_SetConfig_Params>(
      CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  asked.pPmSamplingObject = sampling_;
  asked.configSize = config_.size();
  asked.pConfig = config_.data();
  asked.hardwareBufferSize = kHardwareBytes;
  const bool by_cycles = plan_.interval_cycles > 0;
  asked.samplingInterval =
      static_cast<std::uint64_t>(by_cycles ? plan_.interval_cycles : plan_.interval_ns);
  asked.triggerMode = by_cycles ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                                : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  asked.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  // That of CUDA 12.6 ends before the last field.
  constexpr std::size_t kShort =
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
  return refusal(ask_sized(cupti_.set_config, asked, kShort), "cuptiPmSamplingSetConfig");
}

PmRefusal PmDevice::make_room() {
  auto size = pm_parameters<CUpti_PmSampling_GetCounterDataSize_Params>(
      CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pPmSamplingObject = sampling_;
  size.pMetricNames = host_->names().data();
  size.numMetrics = host_->names().size();
  size.maxSamples = static_cast<std::uint32_t>(plan_.samples);
  if (const CUptiResult result = cupti_.data_size(&size); result != CUPTI_SUCCESS)
    return refusal(result, "cuptiPmSamplingGetCounterDataSize");
  empty_.assign(size.counterDataSize, 0);
  auto begin = pm_parameters<CUpti_PmSampling_CounterDataImage_Initialize_Params>(
      CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  begin.pPmSamplingObject = sampling_;
  begin.counterDataSize = empty_.size();
  begin.pCounterData = empty_.data();
  return refusal(cupti_.data_begin(&begin), "cuptiPmSamplingCounterDataImageInitialize");
}

PmRefusal PmDevice::start() {
  auto asked =
      pm_parameters<CUpti_PmSampling_Start_Params>(CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  asked.pPmSamplingObject = sampling_;
  started_ = wire::monotonic_ns();
  ticks_started_ = cpu_ticks();
  const CUptiResult result = cupti_.start(&asked);
  running_ = result == CUPTI_SUCCESS;
  first_ = true;
  return refusal(result, "cuptiPmSamplingStart");
}

/// Sampling is not disabled: with that CUPTI ends altogether, the recording of activity included.
PmRefusal PmDevice::stop() {
  if (!running_) return {};
  running_ = false;
  auto asked =
      pm_parameters<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  asked.pPmSamplingObject = sampling_;
  return refusal(cupti_.stop(&asked), "cuptiPmSamplingStop");
}

CUptiResult PmDevice::decode(bool& more, bool& overflowed) {
  data_ = empty_;
  auto asked = pm_parameters<CUpti_PmSampling_DecodeData_Params>(
      CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  asked.pPmSamplingObject = sampling_;
  asked.pCounterDataImage = data_.data();
  asked.counterDataImageSize = data_.size();
  const CUptiResult result = cupti_.decode(&asked);
  // Said in one of two ways.
  overflowed = overflowed || asked.overflow != 0 || result == CUPTI_ERROR_OUT_OF_MEMORY;
  more = asked.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  return result == CUPTI_ERROR_OUT_OF_MEMORY ? CUPTI_SUCCESS : result;
}

CUptiResult PmDevice::read(PmBatch& batch) {
  auto info = pm_parameters<CUpti_PmSampling_GetCounterDataInfo_Params>(
      CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  if (const CUptiResult result = cupti_.data_info(&info); result != CUPTI_SUCCESS) return result;
  const std::size_t tracks = plan_.tracks.size();
  std::vector<double> values(tracks);
  for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
    auto sample = pm_parameters<CUpti_PmSampling_CounterData_GetSampleInfo_Params>(
        CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
    sample.pPmSamplingObject = sampling_;
    sample.pCounterDataImage = data_.data();
    sample.counterDataImageSize = data_.size();
    sample.sampleIndex = i;
    CUptiResult result = cupti_.sample_info(&sample);
    if (result == CUPTI_SUCCESS) result = host_->evaluate(data_, i, values);
    if (result != CUPTI_SUCCESS) return result;
    // The first after a start counts from an earlier moment than it says.
    if (std::exchange(first_, false)) continue;
    batch.times.push_back({sample.startTimestamp, sample.endTimestamp});
    batch.values.insert(batch.values.end(), values.begin(), values.end());
  }
  return CUPTI_SUCCESS;
}

bool PmDevice::look(PmBatch& batch, PmRefusal& why) {
  batch = {};
  batch.started = started_;
  batch.ticks_started = ticks_started_;
  bool more = true;
  for (int round = 0; more && round < kMostRounds; ++round) {
    if (why = refusal(decode(more, batch.overflowed), "cuptiPmSamplingDecodeData");
        why.result != CUPTI_SUCCESS)
      return false;
    if (why = refusal(read(batch), "cuptiPmSamplingCounterDataGetSampleInfo");
        why.result != CUPTI_SUCCESS)
      return false;
  }
  batch.decoded = wire::monotonic_ns();
  batch.ticks_decoded = cpu_ticks();
  if (!batch.overflowed || !running_) return true;
  // The buffer keeps its oldest records, and takes no new ones until then.
  if (why = stop(); why.result != CUPTI_SUCCESS) return false;
  if (why = configure(); why.result != CUPTI_SUCCESS) return false;
  why = start();
  return why.result == CUPTI_SUCCESS;
}

}  // namespace fathom::cuda
