// Converts CUPTI's records of device activity, calls and waits.
// Records that come once, of devices and streams, are in converter_things.cc.
#include "capture/cuda/converter.h"

#include <algorithm>
#include <vector>

namespace fathom::cuda {
namespace {

std::int64_t id(std::uint32_t number) { return number == 0 ? -1 : std::int64_t{number}; }

std::int64_t node(std::uint64_t number) {
  return number == 0 ? -1 : static_cast<std::int64_t>(number);
}

std::int64_t applicable(std::uint32_t number) {
  return number == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? -1 : std::int64_t{number};
}

/// Words for what is unusual about a launch; most have none.
class Arguments {
 public:
  void add(std::string_view key, std::string value) {
    texts_.push_back(std::move(value));
    keys_.push_back(key);
  }
  void add_if(bool condition, std::string_view key, std::string_view value) {
    if (condition) add(key, std::string(value));
  }
  std::span<const wire::Argument> all() {
    all_.clear();
    for (std::size_t i = 0; i < keys_.size(); ++i) all_.push_back({keys_[i], texts_[i]});
    return all_;
  }

 private:
  std::vector<std::string_view> keys_;
  std::vector<std::string> texts_;
  std::vector<wire::Argument> all_;
};

/// What has begun has no end yet.
template <typename Record>
void add_running(const Record& record, Arguments& arguments) {
  arguments.add_if(record.end == CUPTI_TIMESTAMP_UNKNOWN, "running", "when the recording ended");
}

/// Fields that only newer headers have, among others.
template <typename Record>
void add_launch_words(const Record& record, bool reported, Arguments& arguments) {
  add_running(record, arguments);
  if constexpr (requires { record.isDeviceLaunched; })
    arguments.add_if(reported && record.isDeviceLaunched != 0, "launched_by", "device");
  if constexpr (requires { record.priority; }) {
    if (record.priority != 0) arguments.add("priority", std::to_string(record.priority));
  }
  if constexpr (requires { record.maxActiveClusters; }) {
    if (record.clusterX != 0 && record.maxActiveClusters != 0)
      arguments.add("max_active_clusters", std::to_string(record.maxActiveClusters));
  }
}

/// Streams that wait for something do no work.
constexpr std::string_view kWaiting = "cuda_sync";

/// Since CUDA 13; before, the byte was padding.
constexpr std::uint32_t kTellsDeviceLaunch = 130000;

}  // namespace

void LaunchNotes::programmatic(std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  programmatic_.put(correlation, {});
}

bool LaunchNotes::take(std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  return programmatic_.erase(correlation);
}

std::uint64_t LaunchNotes::forgotten() {
  const std::lock_guard lock(mutex_);
  return programmatic_.forgotten();
}

Converter::Converter(wire::Writer& writer, const ClockFit& clock, std::int32_t pid,
                     std::uint32_t version, FunctionName names, LaunchNotes* notes)
    : writer_(writer),
      clock_(clock),
      pid_(pid),
      version_(version),
      names_(std::move(names)),
      notes_(notes) {}

const ConverterCounts& Converter::counts() {
  counts_.events_forgotten = std::max(events_.forgotten(), recorded_.forgotten());
  counts_.external_forgotten = externals_.forgotten();
  if (notes_ != nullptr) counts_.launches_forgotten = notes_->forgotten();
  return counts_;
}

void Converter::convert(const CUpti_Activity& record) {
  ++counts_.records;
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kernel(widened<KernelRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return copy(widened<CopyRecord>(record, version_), "");
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return copy(widened<PeerCopyRecord>(record, version_), "peer");
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return fill(widened<FillRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API:
      return call(widened<CUpti_ActivityAPI>(record, version_));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return memory(widened<MemoryRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return pool(widened<PoolRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return device(widened<DeviceRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return context(widened<ContextRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_STREAM:
      return stream(widened<CUpti_ActivityStream>(record, version_));
    case CUPTI_ACTIVITY_KIND_NAME:
      return name(widened<CUpti_ActivityName>(record, version_));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return event(widened<EventRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return wait(widened<WaitRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return external(widened<CUpti_ActivityExternalCorrelation>(record, version_));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return overhead(widened<OverheadRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_JIT:
      return jit(widened<JitRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return graph(widened<GraphRecord>(record, version_));
    case CUPTI_ACTIVITY_KIND_MARKER:
      return marker(widened<MarkerRecord>(record, version_));
    default:
      if (!newer(record)) ++counts_.unknown;
  }
}

bool Converter::times(std::uint64_t start, std::uint64_t end, Times& times) {
  if (start == CUPTI_TIMESTAMP_UNKNOWN || end == CUPTI_TIMESTAMP_UNKNOWN || end < start) {
    ++counts_.without_time;
    return false;
  }
  times.start = clock_.host(static_cast<std::int64_t>(start));
  if (!keeps(times.start)) return false;
  // Both ends are converted: a duration of its own would be measured by the other clock.
  times.duration = clock_.host(static_cast<std::int64_t>(end)) - times.start;
  return true;
}

bool Converter::device_times(std::uint64_t start, std::uint64_t end, Times& times) {
  if (start == CUPTI_TIMESTAMP_UNKNOWN || end != CUPTI_TIMESTAMP_UNKNOWN || running_until_ == 0)
    return this->times(start, end, times);
  times.start = clock_.host(static_cast<std::int64_t>(start));
  if (!keeps(times.start)) return false;
  times.duration = std::max<std::int64_t>(0, running_until_ - times.start);
  ++counts_.running;
  return true;
}

bool Converter::keeps(std::int64_t start) {
  const bool kept = keeps_ == nullptr || keeps_(start);
  ++(kept ? counts_.kept : counts_.outside);
  return kept;
}

std::int32_t Converter::device_of(std::uint32_t context) const {
  const auto found = devices_.find(context);
  return found == devices_.end() ? 0 : found->second;
}

void Converter::write(const wire::DeviceActivity& activity) {
  if (activity.graph >= 0) ++counts_.graph_nodes;
  if (activity.category != kWaiting) {
    ++counts_.activities;
    counts_.activity_ns += activity.duration;
  }
  writer_.device(activity);
}

template <typename Record>
std::optional<wire::DeviceActivity> Converter::activity_of(const Record& record,
                                                           std::string_view category) {
  const auto device = static_cast<std::int32_t>(record.deviceId);
  devices_[record.contextId] = device;
  Times when;
  if (!device_times(record.start, record.end, when)) return {};
  wire::DeviceActivity activity{.start = when.start,
                                .duration = when.duration,
                                .pid = pid_,
                                .device = device,
                                .context = record.contextId,
                                .stream = record.streamId,
                                .category = category,
                                .correlation = id(record.correlationId),
                                .graph = id(record.graphId)};
  if constexpr (requires { record.graphNodeId; }) activity.node = node(record.graphNodeId);
  return activity;
}

void Converter::kernel(const KernelRecord& record) {
  // Also of one that is not kept: it is not waited for any more.
  const bool programmatic = notes_ != nullptr && notes_->take(record.correlationId);
  std::optional<wire::DeviceActivity> activity = activity_of(record, "kernel");
  if (!activity) return;
  const wire::Launch launch{.grid = {record.gridX, record.gridY, record.gridZ},
                            .block = {record.blockX, record.blockY, record.blockZ},
                            .cluster = {static_cast<std::int32_t>(record.clusterX),
                                        static_cast<std::int32_t>(record.clusterY),
                                        static_cast<std::int32_t>(record.clusterZ)},
                            .registers = record.registersPerThread,
                            .static_shared = record.staticSharedMemory,
                            .dynamic_shared = record.dynamicSharedMemory,
                            .local_bytes = static_cast<std::int64_t>(record.localMemoryTotal_v2)};
  Arguments arguments;
  const std::string_view cooperative = launch_word(record.launchType);
  arguments.add_if(!cooperative.empty(), "launch", cooperative);
  if (programmatic) {
    arguments.add("launch", "programmatic dependent");
    ++counts_.programmatic;
  }
  add_launch_words(record, version_ >= kTellsDeviceLaunch, arguments);
  activity->name = demangle_(record.name);
  activity->launch = &launch;
  activity->arguments = arguments.all();
  write(*activity);
}

template <typename Record>
void Converter::copy(const Record& record, std::string_view more) {
  std::optional<wire::DeviceActivity> activity = activity_of(record, "gpu_memcpy");
  if (!activity) return;
  const wire::Copy copy{.bytes = static_cast<std::int64_t>(record.bytes),
                        .kind = copy_kind_word(record.copyKind),
                        .source = memory_kind_word(record.srcKind),
                        .destination = memory_kind_word(record.dstKind)};
  const std::string named = "Memcpy " + std::string(copy.kind) + " (" + std::string(copy.source) +
                            " -> " + std::string(copy.destination) + ")";
  Arguments arguments;
  arguments.add_if((record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) == 0, "blocking", "yes");
  if constexpr (requires { record.srcDeviceId; }) {
    arguments.add_if(!more.empty(), "from_device", std::to_string(record.srcDeviceId));
    arguments.add_if(!more.empty(), "to_device", std::to_string(record.dstDeviceId));
  }
  add_launch_words(record, version_ >= kTellsDeviceLaunch, arguments);
  activity->name = named;
  activity->copy = &copy;
  activity->arguments = arguments.all();
  write(*activity);
}

void Converter::fill(const FillRecord& record) {
  std::optional<wire::DeviceActivity> activity = activity_of(record, "gpu_memset");
  if (!activity) return;
  const wire::Copy copy{.bytes = static_cast<std::int64_t>(record.bytes),
                        .kind = "Memset",
                        .source = {},
                        .destination = memory_kind_word(record.memoryKind)};
  const std::string named = "Memset (" + std::string(copy.destination) + ")";
  Arguments arguments;
  add_launch_words(record, version_ >= kTellsDeviceLaunch, arguments);
  activity->name = named;
  activity->copy = &copy;
  activity->arguments = arguments.all();
  write(*activity);
}

void Converter::graph(const GraphRecord& record) {
  std::optional<wire::DeviceActivity> activity = activity_of(record, "cuda_graph");
  if (!activity) return;
  const std::string named = "CUDA graph " + std::to_string(record.graphId);
  Arguments arguments;
  add_running(record, arguments);
  activity->name = named;
  activity->arguments = arguments.all();
  write(*activity);
}

/// Its name, or its number where it has none that is known.
const std::string& Converter::function(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto found = functions_.find({domain, id});
  if (found != functions_.end()) return found->second;
  const char* const known = names_ == nullptr ? nullptr : names_(domain, id);
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  std::string name = known != nullptr
                         ? std::string(without_version(known))
                         : (runtime ? "cuda function " : "cu function ") + std::to_string(id);
  return functions_.try_emplace({domain, id}, std::move(name)).first->second;
}

void Converter::call(const CUpti_ActivityAPI& record) {
  std::int64_t external = -1;
  if (const std::int64_t* const said = externals_.find(record.correlationId)) {
    external = *said;
    externals_.erase(record.correlationId);
  }
  Times when;
  if (!times(record.start, record.end, when)) return;
  const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  const std::string& name =
      function(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, record.cbid);
  if (graph_cost_ != nullptr && name.find("GraphLaunch") != std::string::npos)
    graph_cost_->launch(when.duration);
  const std::string returned = std::to_string(record.returnValue);
  const wire::Argument failed[] = {{"returned", returned}};
  // cudaErrorNotReady is an answer, not a failure.
  constexpr std::uint32_t kNotReady = 600;
  const bool failure = record.returnValue != 0 && record.returnValue != kNotReady;
  writer_.call({.start = when.start,
                .duration = when.duration,
                .pid = pid_,
                .tid = record.threadId,
                .name = name,
                .category = runtime ? "cuda_runtime" : "cuda_driver",
                .correlation = id(record.correlationId),
                .external = external,
                .arguments = failure ? std::span<const wire::Argument>(failed)
                                     : std::span<const wire::Argument>()});
}

void Converter::external(const CUpti_ActivityExternalCorrelation& record) {
  externals_.put(record.correlationId, static_cast<std::int64_t>(record.externalId));
}

void Converter::event(const EventRecord& record) {
  const Recorded made{std::int64_t{record.streamId}, id(record.correlationId)};
  events_.put({record.contextId, record.eventId}, made);
  if constexpr (requires { record.cudaEventSyncId; }) {
    if (record.cudaEventSyncId != 0) recorded_.put(record.cudaEventSyncId, made);
  }
}

/// Where the event was recorded that is waited for; null where that is not known.
const Converter::Recorded* Converter::recorded_for(const WaitRecord& record) const {
  if constexpr (requires { record.cudaEventSyncId; }) {
    if (const Recorded* const exact = recorded_.find(record.cudaEventSyncId)) return exact;
    // The event may have been recorded again since.
    if (record.cudaEventSyncId != 0 && recorded_.forgotten() > 0) return nullptr;
  }
  if (applicable(record.cudaEventId) < 0) return nullptr;
  return events_.find({record.contextId, record.cudaEventId});
}

void Converter::wait(const WaitRecord& record) {
  Times when;
  if (!times(record.start, record.end, when)) return;
  wire::Wait wait{.kind = wait_word(record.type), .event = applicable(record.cudaEventId)};
  if (const Recorded* const recorded = recorded_for(record)) {
    wait.stream = recorded->stream;
    wait.correlation = recorded->correlation;
  } else if (wait.event >= 0 && events_.forgotten() + recorded_.forgotten() > 0) {
    ++counts_.waits_without_stream;
  }
  write({.start = when.start,
         .duration = when.duration,
         .pid = pid_,
         .device = device_of(record.contextId),
         .context = record.contextId,
         .stream = applicable(record.streamId),
         .name = wait.kind,
         .category = kWaiting,
         .correlation = id(record.correlationId),
         .wait = &wait});
}

}  // namespace fathom::cuda
