// Reads the parameters of an area.
#include "server/routes/area.h"

#include <algorithm>

namespace fathom::server {

Result<Interval> stretch_of(const Call& call) {
  const Interval range = call.input->range();
  const Result<std::int64_t> begin = call.number("begin", to_ns(range.begin));
  const Result<std::int64_t> end = call.number("end", to_ns(range.end));
  if (!begin) return begin.error();
  if (!end) return end.error();
  if (*end < *begin) return Error{ErrorCode::invalid_argument, "end: it lies before the begin"};
  return Interval{time_ns(*begin), time_ns(*end)};
}

bool shows_the_whole(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  const Interval range = call.input->range();
  // Telemetry may begin before the recording does.
  const Time begin = std::max(range.begin, Time());
  return stretch && stretch->begin <= begin && stretch->end >= range.end;
}

}  // namespace fathom::server
