// Reads properties of devices from JSON.
#include "formats/common/devices.h"

#include <simdjson.h>

#include "base/json_result.h"

namespace fathom {
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

}  // namespace

std::vector<Device> read_devices(std::string_view json) {
  std::vector<Device> devices;
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (!get_json(parser.parse(json.data(), json.size()), list)) return devices;
  for (const element device : list) {
    if (device.is_object()) devices.push_back(read_device(device));
  }
  return devices;
}

}  // namespace fathom
