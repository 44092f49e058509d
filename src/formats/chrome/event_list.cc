// Walking the list of events, and finding the way again after damage.
#include "formats/chrome/event_list.h"

#include <cstring>
#include <string_view>

#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

/// The next place after `p` where an event may start: a '{' that a quote follows, in front of which
/// stands a comma or an opening bracket. Or `end`.
const char* next_event_start(const char* p, const char* end) {
  for (const char* at = p + 1; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    const char* before = at;
    while (before > p && json::is_space(before[-1])) --before;
    const char previous = before > p ? before[-1] : '\0';
    if ((previous == ',' || previous == '[' || previous == '}') && *json::skip_space(at + 1) == '"')
      return at;
  }
  return end;
}

std::string_view excerpt(const char* p, const char* end) {
  return {p, static_cast<std::size_t>(std::min<std::ptrdiff_t>(80, end - p))};
}

}  // namespace

ListResult read_events(EventParser& parser, const char* begin, const char* end,
                       std::uint64_t offset, bool last, Batch& batch) {
  parser.set_text(begin, end, offset);
  const auto offset_of = [begin, offset](const char* p) {
    return offset + static_cast<std::uint64_t>(p - begin);
  };
  // What stands in front of the stretch is not known: neither a missing nor a trailing comma there.
  enum class Before : std::uint8_t { unknown, event, comma } before = Before::unknown;
  for (const char* p = begin;;) {
    p = json::skip_space(p);
    if (*p == '{') {
      const char* const event = p;
      const ParseStatus status = parser.parse(p, batch);
      if (status == ParseStatus::ok) {
        if (before == Before::event) batch.log.add(Repair::missing_comma, offset_of(event));
        before = Before::event;
        continue;
      }
      if (status == ParseStatus::incomplete && !last) return {ListStop::incomplete, event};
      const char* const resumed = next_event_start(event, end);
      const bool cut_off = status == ParseStatus::incomplete && resumed == end;
      batch.log.add(cut_off ? Repair::truncated : Repair::malformed_event, offset_of(event),
                    excerpt(event, end));
      if (cut_off) return {ListStop::end_of_text, end};
      p = resumed;
      before = Before::unknown;
    } else if (*p == ',') {
      ++p;
      before = before == Before::event ? Before::comma : Before::unknown;
    } else if (*p == ']') {
      if (before == Before::comma) batch.log.add(Repair::trailing_comma, offset_of(p));
      return {ListStop::closed, p + 1};
    } else if (p >= end) {
      return {ListStop::end_of_text, end};
    } else {  // not an event
      batch.log.add(Repair::malformed_event, offset_of(p), excerpt(p, end));
      p = next_event_start(p, end);
      before = Before::unknown;
    }
  }
}

}  // namespace fathom::chrome
