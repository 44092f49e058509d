// What one event object said, before it becomes rows.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/chrome/attributes.h"
#include "formats/chrome/exact_time.h"
#include "formats/chrome/keys.h"
#include "formats/chrome/text_cache.h"
#include "store/trace.h"

namespace fathom::chrome {

/// A pid or tid as written, without quotes.
struct Token {
  const char* text = "";
  std::uint32_t size = 0;
  [[nodiscard]] std::string_view view() const { return {text, size}; }
};

enum class Phase : std::uint8_t {
  missing,
  complete,
  begin,
  end,
  async_begin,
  async_end,
  flow_start,
  flow_step,
  flow_finish,
  instant,
  counter,
  metadata,
  not_read,  ///< Defined by the format, of no use here: objects, memory dumps, clock syncs, …
  unknown,
};

enum class TimeField : std::uint8_t { absent, present, unusable };

struct Event {
  Phase phase = Phase::missing;
  char phase_text = '\0';
  std::uint8_t context = 0;  ///< Row of the parser's table of key successors.
  std::uint8_t category = 0;
  bool has_category = false;
  StringId category_name = StringId(0);
  SliceKind kind = SliceKind::other;
  TimeField start_state = TimeField::absent;
  TimeField duration_state = TimeField::absent;
  bool has_id = false;
  StringId name;
  ThreadStrings::Request requested_name;  ///< Its text is set while `name` waits for its id.
  Token pid;
  Token tid;
  ExactTime start;
  ExactTime duration;
  std::int64_t id = 0;
  std::uint64_t seen = 0;       ///< Bit per Key.
  std::uint64_t seen_args = 0;  ///< Bit per attribute.
  const char* begin = nullptr;  ///< Its '{'.
  const char* args = nullptr;   ///< The '{' of its args, or nullptr.

  EventArgs said;  ///< Only when args is not nullptr; else its defaults.
};
static_assert(kAttributeCount <= 64, "Event::seen_args has one bit for each attribute");

}  // namespace fathom::chrome
