// Asks CUPTI's profiler host interface which metrics a chip has.
#include "capture/cuda/pm_host.h"

#include <utility>

namespace fathom::cuda {

PmHost::PmHost(const PmFunctions& functions, std::string chip,
               std::vector<std::uint8_t> availability)
    : cupti_(functions), chip_(std::move(chip)), availability_(std::move(availability)) {}

PmHost::~PmHost() { end(); }

CUptiResult PmHost::begin() {
  end();
  // Libraries before CUDA 13.2 know no set of a single pass, the field behind.
  constexpr std::size_t kShort =
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject);
  auto asked = pm_parameters<CUpti_Profiler_Host_Initialize_Params>(kShort);
  asked.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  asked.pChipName = chip_.c_str();
  asked.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  const CUptiResult result =
      ask_sized(cupti_.host_begin, asked, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  if (result == CUPTI_SUCCESS) host_ = asked.pHostObject;
  return result;
}

void PmHost::end() {
  if (host_ == nullptr) return;
  auto asked = pm_parameters<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  asked.pHostObject = std::exchange(host_, nullptr);
  const CUptiResult result = cupti_.host_end(&asked);
  if (end_result_ == CUPTI_SUCCESS) end_result_ = result;
}

CUptiResult PmHost::check() { return begin(); }

CUptiResult PmHost::note(const char* question, CUptiResult result) {
  if (result != CUPTI_SUCCESS && failed_.empty())
    failed_ = std::string(question) + ": CUPTI error " + std::to_string(static_cast<int>(result));
  return result;
}

CUptiResult PmHost::choose(const std::vector<std::string>& metrics,
                           std::vector<std::uint8_t>& image) {
  metrics_ = metrics;
  names_.clear();
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  if (const CUptiResult begun = note("cuptiProfilerHostInitialize", begin());
      begun != CUPTI_SUCCESS)
    return begun;
  auto asked = pm_parameters<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  asked.pHostObject = host_;
  asked.ppMetricNames = names_.data();
  asked.numMetrics = names_.size();
  const CUptiResult added = cupti_.add_metrics(&asked);
  // So it answers where the chip has no such metric.
  if (added != CUPTI_ERROR_INVALID_PARAMETER && added != CUPTI_ERROR_INVALID_METRIC_NAME)
    note("cuptiProfilerHostConfigAddMetrics", added);
  return added == CUPTI_SUCCESS ? build(image) : added;
}

CUptiResult PmHost::build(std::vector<std::uint8_t>& image) {
  auto size = pm_parameters<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  if (const CUptiResult sized =
          note("cuptiProfilerHostGetConfigImageSize", cupti_.image_size(&size));
      sized != CUPTI_SUCCESS)
    return sized;
  image.assign(size.configImageSize, 0);
  auto asked = pm_parameters<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  asked.pHostObject = host_;
  asked.configImageSize = image.size();
  asked.pConfigImage = image.data();
  return note("cuptiProfilerHostGetConfigImage", cupti_.image(&asked));
}

std::size_t PmHost::passes(const std::vector<std::string>& metrics) {
  std::vector<std::uint8_t> image;
  if (choose(metrics, image) != CUPTI_SUCCESS) return 0;
  auto asked = pm_parameters<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  asked.configImageSize = image.size();
  asked.pConfigImage = image.data();
  const CUptiResult counted = note("cuptiProfilerHostGetNumOfPasses", cupti_.passes(&asked));
  return counted == CUPTI_SUCCESS ? asked.numOfPasses : 0;
}

PmChip PmHost::chip() {
  return {chip_, [this](const std::string& metric) { return passes({metric}) > 0; },
          [this](const std::vector<std::string>& metrics) { return passes(metrics); },
          [this] { return std::exchange(failed_, {}); }};
}

CUptiResult PmHost::evaluate(std::span<const std::uint8_t> data, std::size_t sample,
                             std::span<double> values) const {
  auto asked = pm_parameters<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  asked.pHostObject = host_;
  asked.pCounterDataImage = data.data();
  asked.counterDataImageSize = data.size();
  asked.rangeIndex = sample;
  asked.ppMetricNames = names_.data();
  asked.numMetrics = names_.size();
  asked.pMetricValues = values.data();
  return cupti_.evaluate(&asked);
}

}  // namespace fathom::cuda
