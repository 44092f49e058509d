// What simdjson's parser returned: distinguishes a wrong text from memory that was refused.
#pragma once

#include <utility>

#include <simdjson.h>

#include "base/out_of_memory.h"

namespace fathom {

/// Puts the value of a simdjson_result into `value`; false where the text has none of that type.
/// Throws where the parser lacked memory: the text may be sound.
template <typename Parsed, typename Value>
bool get_json(Parsed&& parsed, Value& value) {
  const simdjson::error_code error = std::forward<Parsed>(parsed).get(value);
  if (error == simdjson::MEMALLOC) throw OutOfMemory(last_refused());
  return error == simdjson::SUCCESS;
}

}  // namespace fathom
