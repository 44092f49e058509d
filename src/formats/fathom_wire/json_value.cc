// Makes values of a capture file JSON.
#include "formats/fathom_wire/json_value.h"

#include <simdjson.h>

#include "base/json_writer.h"

namespace fathom::own {
std::string json_value(std::string_view value) {
  if (value.starts_with('{') || value.starts_with('[')) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    if (parser.parse(value.data(), value.size()).get(element) == simdjson::SUCCESS)
      return simdjson::minify(element);
  }
  return json_string(value, JsonEscapes::canonical);
}

}  // namespace fathom::own
