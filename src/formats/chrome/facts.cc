// Reads device properties and distributed information.
#include <simdjson.h>

#include "base/json_result.h"
#include "formats/chrome/finish.h"
#include "formats/common/devices.h"

namespace fathom::chrome {
namespace {

using simdjson::dom::element;

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
  if (properties != nullptr) trace.devices = read_devices(properties->value);
  const Fact* const distributed = trace.fact("distributedInfo");
  if (distributed != nullptr && get_json(parser.parse(distributed->value), value) &&
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
