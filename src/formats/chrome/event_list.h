// The inside of the traceEvents list: events, commas, and what damage leaves between them.
#pragma once

#include <cstdint>

#include "formats/chrome/event_parser.h"

namespace fathom::chrome {

/// Why reading a stretch of the list stopped.
enum class ListStop : std::uint8_t {
  end_of_text,  ///< Everything was read; the list goes on in the text that follows.
  closed,       ///< The ']' of the list was read.
  incomplete,   ///< An event begins that the text does not hold to its end.
};

struct ListResult {
  ListStop stop = ListStop::end_of_text;
  const char* at = nullptr;  ///< closed: behind the ']'; incomplete: the start of that event.
};

/// Reads events from [begin, end) into `batch`. With `last` there is no more text: an incomplete
/// event is counted as truncated, and text after damage is searched to its end.
ListResult read_events(EventParser& parser, const char* begin, const char* end,
                       std::uint64_t offset, bool last, Batch& batch);

}  // namespace fathom::chrome
