// What stands around the events of a Chrome trace: facts, names and order of processes and threads.
#pragma once

#include <cstdint>

#include "export/trace_json.h"
#include "store/trace.h"

namespace fathom {

/// What is added to the trace's times before they are written, ns: they count from
/// baseTimeNanoseconds.
std::int64_t chrome_offset_ns(const Trace& trace);

/// Every member of the outermost object, which is open, but for the events.
void write_chrome_header(const Trace& trace, TraceJson& json);

/// The metadata events, into the list of events, which is open.
void write_chrome_metadata(const Trace& trace, TraceJson& json);

}  // namespace fathom
