// Reads the parameters of an area.
#include "server/routes/area.h"

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

}  // namespace fathom::server
