// What one event object said, before it becomes rows.
#pragma once

#include <cstdint>
#include <string_view>

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

/// What the args said.
struct EventArgs {
  bool has_op_args = false;
  std::int64_t external_id = kAbsent;
  std::int64_t correlation = kAbsent;
  Signature signature;
  std::int64_t sequence = kAbsent;
  std::int64_t forward_thread = kAbsent;
  std::int64_t flops = kAbsent;
  StringId stack;
  StringId module;
  std::int64_t device = kAbsent;
  std::int64_t stream = kAbsent;
  LaunchConfig config;
  std::int64_t graph_node = kAbsent;
  std::int64_t bytes = kAbsent;
  std::int64_t python_id = kAbsent;
  std::int64_t python_parent = kAbsent;
  std::int64_t python_module = kAbsent;
  Collective collective;
  StringId sync_kind;
  std::int64_t wait_stream = kAbsent;
  std::int64_t wait_event = kAbsent;
  std::int64_t wait_correlation = kAbsent;
  std::int64_t memory_address = kAbsent;
  std::int64_t memory_bytes = kAbsent;
  std::int64_t memory_allocated = kAbsent;
  std::int64_t memory_reserved = kAbsent;
  std::int64_t memory_device_type = kAbsent;
  std::int64_t memory_device = kAbsent;
  StringId meta_name;
  StringId meta_labels;
  std::int64_t meta_sort_index = kAbsent;
};

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
  const char* begin = nullptr;  ///< Its '{'.
  const char* args = nullptr;   ///< The '{' of its args, or nullptr.

  EventArgs said;  ///< Only when args is not nullptr; else its defaults.

  [[nodiscard]] bool has(Key key) const { return (seen >> static_cast<unsigned>(key) & 1U) != 0; }
};
static_assert(kKeys <= 64, "Event::seen has one bit for each key");

}  // namespace fathom::chrome
