// What stands around the events of a Chrome trace: facts, names and order of processes and threads.
#pragma once

#include <cstdint>

#include "export/json_text.h"
#include "export/write_buffer.h"
#include "store/trace.h"

namespace fathom {

/// What is added to the trace's times before they are written, ns: they count from
/// baseTimeNanoseconds.
std::int64_t chrome_offset_ns(const Trace& trace);

/// Everything before the first event, up to the bracket of the list.
void write_chrome_header(const Trace& trace, JsonText& json, WriteBuffer& out);

/// The metadata events, with commas between them; false where there are none.
bool write_chrome_metadata(const Trace& trace, JsonText& json, WriteBuffer& out);

}  // namespace fathom
