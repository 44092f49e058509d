// Converts CUPTI's records of memory, devices, contexts, streams and overhead.
#include <array>
#include <cstdio>

#include "base/json_writer.h"
#include "capture/cuda/converter.h"

namespace fathom::cuda {
namespace {

/// The thread that an object of CUPTI's is, or -1.
std::int64_t thread_of(CUpti_ActivityObjectKind kind, const CUpti_ActivityObjectKindId& object) {
  return kind == CUPTI_ACTIVITY_OBJECT_THREAD ? std::int64_t{object.pt.threadId} : -1;
}

std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    std::array<char, 4> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte.data();
  }
  return text;
}

}  // namespace

void Converter::sample(std::int64_t time, std::int32_t device, std::string_view name,
                       std::int64_t value) {
  const auto [counter, added] = counters_.try_emplace({device, std::string(name)}, 0);
  if (added) counter->second = writer_.counter(pid_, device, name, "bytes");
  writer_.sample(time, counter->second, static_cast<double>(value));
}

void Converter::memory(const MemoryRecord& record) {
  if (record.timestamp == CUPTI_TIMESTAMP_UNKNOWN) {
    ++counts_.without_time;
    return;
  }
  const std::int64_t time = clock_.host(static_cast<std::int64_t>(record.timestamp));
  if (!keeps(time)) return;
  const bool taken = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  const auto bytes = static_cast<std::int64_t>(record.bytes);
  const bool pooled = record.isAsync != 0;
  // Of a pool of another process only its number is known.
  const bool own_pool =
      pooled && record.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  writer_.memory(
      {.time = time,
       .pid = pid_,
       .correlation = record.correlationId == 0 ? -1 : std::int64_t{record.correlationId},
       .device = static_cast<std::int32_t>(record.deviceId),
       .address = record.address,
       .bytes = taken ? bytes : -bytes,
       .reserved = own_pool ? static_cast<std::int64_t>(record.memoryPoolConfig.pool.size) : -1,
       .kind = memory_kind_word(record.memoryKind)});
}

void Converter::pool(const PoolRecord& record) {
  if (record.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL ||
      record.timestamp == CUPTI_TIMESTAMP_UNKNOWN)
    return;
  const std::int64_t time = clock_.host(static_cast<std::int64_t>(record.timestamp));
  const auto device = static_cast<std::int32_t>(record.deviceId);
  if (record.memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED) {
    pools_.erase(record.address);
  } else {
    pools_[record.address] = {device, static_cast<std::int64_t>(record.size),
                              static_cast<std::int64_t>(record.utilizedSize)};
  }
  if (!keeps(time)) return;
  std::int64_t reserved = 0;
  std::int64_t used = 0;
  for (const auto& [address, pool] : pools_) {
    if (pool.device != device) continue;
    reserved += pool.reserved;
    used += pool.used;
  }
  sample(time, device, "cuda.pool.reserved", reserved);
  sample(time, device, "cuda.pool.used", used);
}

/// In the words of Kineto's deviceProperties, so that both are read by the same rules.
void Converter::device(const DeviceRecord& record) {
  std::string text;
  JsonWriter json(text);
  json.object().member("id", record.id);
  json.key("name").text(record.name == nullptr ? "" : record.name);
  json.member("totalGlobalMem", record.globalMemorySize);
  json.member("computeMajor", record.computeCapabilityMajor);
  json.member("computeMinor", record.computeCapabilityMinor);
  json.member("numSms", record.numMultiprocessors);
  json.member("maxThreadsPerBlock", record.maxThreadsPerBlock);
  json.member("maxThreadsPerMultiprocessor",
              record.maxWarpsPerMultiprocessor * record.numThreadsPerWarp);
  json.member("regsPerBlock", record.maxRegistersPerBlock);
  json.member("regsPerMultiprocessor", record.maxRegistersPerMultiprocessor);
  json.member("warpSize", record.numThreadsPerWarp);
  json.member("sharedMemPerBlock", record.maxSharedMemoryPerBlock);
  json.member("sharedMemPerMultiprocessor", record.maxSharedMemoryPerMultiprocessor);
  json.member("maxBlocksPerMultiprocessor", record.maxBlocksPerMultiprocessor);
  json.member("l2CacheSize", record.l2CacheSize);
  json.member("memoryBandwidthKBps", record.globalMemoryBandwidth);
  json.member("clockRateKHz", record.coreClockRate);
  json.member("uuid", "GPU-" + uuid_text(record.uuid));
  if (record.isMigEnabled != 0) {
    json.member("mig", "MIG-" + uuid_text(record.migUuid));
    json.member("gpuInstance", record.gpuInstanceId);
    json.member("computeInstance", record.computeInstanceId);
  }
  json.end();
  const std::string number = std::to_string(record.id);
  writer_.fact(pid_, "device_properties." + number, text);
  if (record.isMigEnabled != 0)
    writer_.fact(pid_, "cuda.mig.device " + number, "MIG-" + uuid_text(record.migUuid));
}

void Converter::context(const ContextRecord& record) {
  devices_[record.contextId] = static_cast<std::int32_t>(record.deviceId);
  std::string text = "device " + std::to_string(record.deviceId) + ", null stream " +
                     std::to_string(record.nullStreamId);
  if constexpr (requires { record.isGreenContext; }) {
    if (record.isGreenContext != 0)
      text += ", green, " + std::to_string(record.numMultiprocessors) + " SMs of context " +
              std::to_string(record.parentContextId);
  }
  writer_.fact(pid_, "cuda.context." + std::to_string(record.contextId), text);
}

void Converter::stream(const CUpti_ActivityStream& record) {
  std::string text = record.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING ? "non-blocking"
                     : record.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL       ? "null stream"
                                                                                   : "blocking";
  text += ", priority " + std::to_string(static_cast<std::int32_t>(record.priority));
  writer_.fact(pid_, "cuda.stream." + std::to_string(record.streamId), text);
}

void Converter::name(const CUpti_ActivityName& record) {
  if (record.name == nullptr) return;
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
    writer_.thread(pid_, record.objectId.pt.threadId, record.name);
  } else if (record.objectKind == CUPTI_ACTIVITY_OBJECT_STREAM) {
    writer_.fact(pid_, "cuda.stream.name." + std::to_string(record.objectId.dcs.streamId),
                 record.name);
  }
}

/// What was done in no thread of its own lies beside the threads.
void Converter::overhead(const OverheadRecord& record) {
  Times when;
  if (!times(record.start, record.end, when)) return;
  const std::int64_t tid = thread_of(record.objectKind, record.objectId);
  writer_.slice(when.start, when.duration, pid_, tid < 0 ? pid_ : tid,
                overhead_word(record.overheadKind), tid < 0 ? "overhead.device" : "overhead");
}

void Converter::jit(const JitRecord& record) {
  Times when;
  if (!times(record.start, record.end, when)) return;
  std::int64_t tid = -1;
  if constexpr (requires { record.threadId; }) {
    if (record.threadId != 0) tid = record.threadId;
  }
  const std::string bytes = std::to_string(record.cacheSize);
  const wire::Argument arguments[] = {
      {"cache_bytes", bytes}, {"cache", record.cachePath == nullptr ? "" : record.cachePath}};
  const wire::Slice slice{.start = when.start,
                          .duration = when.duration,
                          .pid = pid_,
                          .tid = tid < 0 ? pid_ : tid,
                          .name = jit_word(record.jitEntryType, record.jitOperationType),
                          .category = tid < 0 ? "overhead.device" : "overhead",
                          .value = -1,
                          .arguments = arguments};
  writer_.slices({&slice, 1});
}

/// NVTX as CUPTI hears it; where libfathom_nvtx.so is loaded, CUPTI hears nothing.
void Converter::marker(const MarkerRecord& record) {
  if (record.timestamp == CUPTI_TIMESTAMP_UNKNOWN) return;
  const std::int64_t time = clock_.host(static_cast<std::int64_t>(record.timestamp));
  const std::int64_t tid = thread_of(record.objectKind, record.objectId);
  const std::string domain = record.domain == nullptr ? "" : record.domain;
  const wire::Argument of_domain[] = {{"domain", domain}};
  const auto arguments = [&](std::string_view said) {
    return said.empty() ? std::span<const wire::Argument>()
                        : std::span<const wire::Argument>(of_domain);
  };
  const std::string text = record.name == nullptr ? "" : record.name;
  if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) != 0) {
    writer_.instant(time, pid_, tid < 0 ? pid_ : tid, text, "annotation", arguments(domain));
  } else if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
    ranges_[record.id] = {time, tid, text, domain};
  } else if (const auto open = ranges_.find(record.id); open != ranges_.end()) {
    const Range& range = open->second;
    const wire::Argument of_range[] = {{"domain", range.domain}};
    const bool same = range.tid >= 0 && (tid < 0 || tid == range.tid);
    const wire::Slice slice{.start = range.start,
                            .duration = time - range.start,
                            .pid = pid_,
                            .tid = range.tid < 0 ? pid_ : range.tid,
                            .name = range.name,
                            .category = same ? "annotation" : "range",
                            .value = -1,
                            .arguments = range.domain.empty()
                                             ? std::span<const wire::Argument>()
                                             : std::span<const wire::Argument>(of_range)};
    writer_.slices({&slice, 1});
    ranges_.erase(open);
  }
}

/// Kinds that only newer headers have. False where it is none of those.
bool Converter::newer(const CUpti_Activity& record) {
#if CUPTI_API_VERSION >= 26
  if (record.kind == CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS) {
    const auto wide = widened<CUpti_ActivityMemDecompress>(record, version_);
    Times when;
    if (!times(wide.start, wide.end, when)) return true;
    const wire::Copy copy{.bytes = static_cast<std::int64_t>(wide.sourceBytes),
                          .kind = "Decompress",
                          .source = "Device",
                          .destination = "Device"};
    wire::DeviceActivity activity{.start = when.start,
                                  .duration = when.duration,
                                  .pid = pid_,
                                  .device = static_cast<std::int32_t>(wide.deviceId),
                                  .context = wide.contextId,
                                  .stream = wide.streamId,
                                  .name = "Memory decompression",
                                  .category = "gpu_memcpy",
                                  .correlation = std::int64_t{wide.correlationId},
                                  .copy = &copy};
    write(activity);
    return true;
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE) {
    const auto wide = widened<CUpti_ActivityDeviceGraphTrace>(record, version_);
    Times when;
    if (!times(wide.start, wide.end, when)) return true;
    const std::string named = "CUDA graph " + std::to_string(wide.graphId);
    const std::string launcher = std::to_string(wide.launcherGraphId);
    const wire::Argument arguments[] = {{"launched_by", "device"}, {"launcher_graph", launcher}};
    wire::DeviceActivity activity{.start = when.start,
                                  .duration = when.duration,
                                  .pid = pid_,
                                  .device = static_cast<std::int32_t>(wide.deviceId),
                                  .context = wide.contextId,
                                  .stream = static_cast<std::int64_t>(wide.streamId),
                                  .name = named,
                                  .category = "cuda_graph",
                                  .graph = std::int64_t{wide.graphId},
                                  .arguments = arguments};
    write(activity);
    return true;
  }
#endif
#if CUPTI_API_VERSION >= 130100
  // A function of the program, run in a thread of the driver.
  if (record.kind == CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE) {
    const auto wide = widened<CUpti_ActivityGraphHostNode>(record, version_);
    host_function(wide.start, wide.end, wide.threadId, wide.correlationId, "CUDA graph host node");
    return true;
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_HOST_LAUNCH) {
    const auto wide = widened<CUpti_ActivityHostLaunch>(record, version_);
    host_function(wide.start, wide.end, wide.threadId, wide.correlationId, "CUDA host function");
    return true;
  }
#endif
#if CUPTI_API_VERSION >= 130200
  if (record.kind == CUPTI_ACTIVITY_KIND_GREEN_CONTEXT) {
    const auto wide = widened<GreenRecord>(record, version_);
    devices_[wide.contextId] = static_cast<std::int32_t>(wide.deviceId);
    writer_.fact(pid_, "cuda.context." + std::to_string(wide.contextId),
                 "device " + std::to_string(wide.deviceId) + ", green, " +
                     std::to_string(wide.numMultiprocessors) + " SMs of context " +
                     std::to_string(wide.parentContextId));
    return true;
  }
#endif
  return false;
}

void Converter::host_function(std::uint64_t start, std::uint64_t end, std::uint32_t tid,
                              std::uint32_t correlation, std::string_view named) {
  Times when;
  if (!times(start, end, when)) return;
  const std::string launch = std::to_string(correlation);
  const wire::Argument arguments[] = {{"launch", launch}};
  const wire::Slice slice{.start = when.start,
                          .duration = when.duration,
                          .pid = pid_,
                          .tid = tid,
                          .name = named,
                          .category = "host_function",
                          .value = -1,
                          .arguments = arguments};
  writer_.slices({&slice, 1});
}

}  // namespace fathom::cuda
