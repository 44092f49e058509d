// What an image holds of a trace besides its arrays and texts: facts, devices, what reading met.
#pragma once

#include <string>
#include <string_view>

#include "store/trace.h"

namespace fathom {

/// All that each_detail() visits, and the import log.
std::string details_of(const Trace& trace);

/// Puts them into a trace that has none. False where `text` is not a whole one.
bool restore_details(std::string_view text, Trace& trace);

}  // namespace fathom
