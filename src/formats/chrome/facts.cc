// What the recorder said about devices and ranks.
#include <simdjson.h>

#include "formats/chrome/finish.h"

namespace fathom::chrome {
namespace {

using simdjson::dom::element;

std::int64_t integer(const element& object, const char* key) {
  std::int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : 0;
}

std::int32_t small(const element& object, const char* key) {
  const std::int64_t value = integer(object, key);
  return value >= INT32_MIN && value <= INT32_MAX ? static_cast<std::int32_t>(value) : 0;
}

Device read_device(const element& object) {
  Device device;
  std::string_view name;
  if (object["name"].get(name) == simdjson::SUCCESS) device.name = name;
  device.id = small(object, "id");
  device.memory_bytes = integer(object, "totalGlobalMem");
  device.compute_major = small(object, "computeMajor");
  device.compute_minor = small(object, "computeMinor");
  device.sms = small(object, "numSms");
  device.max_threads_per_sm = small(object, "maxThreadsPerMultiprocessor");
  device.max_threads_per_block = small(object, "maxThreadsPerBlock");
  device.registers_per_sm = integer(object, "regsPerMultiprocessor");
  device.registers_per_block = integer(object, "regsPerBlock");
  device.shared_memory_per_sm = integer(object, "sharedMemPerMultiprocessor");
  device.shared_memory_per_block = integer(object, "sharedMemPerBlock");
  device.shared_memory_per_block_optin = integer(object, "sharedMemPerBlockOptin");
  if (const std::int32_t warp = small(object, "warpSize"); warp > 0) device.warp_size = warp;
  return device;
}

std::int64_t integer_or_absent(const element& object, const char* key) {
  std::int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : kAbsent;
}

}  // namespace

void read_facts(Trace& trace) {
  simdjson::dom::parser parser;
  element value;
  const Fact* properties = trace.fact("deviceProperties");
  if (properties == nullptr) properties = trace.fact("computeProperties");
  simdjson::dom::array devices;
  if (properties != nullptr && parser.parse(properties->value).get(value) == simdjson::SUCCESS &&
      value.get(devices) == simdjson::SUCCESS) {
    for (const element device : devices) {
      if (device.is_object()) trace.devices.push_back(read_device(device));
    }
  }
  const Fact* const distributed = trace.fact("distributedInfo");
  if (distributed != nullptr && parser.parse(distributed->value).get(value) == simdjson::SUCCESS &&
      value.is_object()) {
    Distributed info;
    std::string_view backend;
    if (value["backend"].get(backend) == simdjson::SUCCESS) info.backend = backend;
    info.rank = integer_or_absent(value, "rank");
    info.world_size = integer_or_absent(value, "world_size");
    trace.distributed = info;
  }
}

}  // namespace fathom::chrome
