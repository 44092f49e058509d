// The document around the events: finds the traceEvents list and keeps the other keys as facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom::chrome {

/// Reads a JSON document in stretches of any size, byte by byte, except for the list of events
/// itself, which the caller reads. Damage is survived: what cannot be understood is skipped.
class Outline {
 public:
  /// Reads from `p` until the '[' that opens the list of events, and returns the byte behind it; or
  /// reads to `end` and returns `end`. `offset` is the place of `p` in the input.
  const char* read(const char* p, const char* end, std::uint64_t offset);

  [[nodiscard]] bool in_events() const { return in_events_; }
  /// The caller met the ']' of the list.
  void events_closed();

  [[nodiscard]] bool saw_events() const { return saw_events_; }
  /// The document is the list of events itself.
  [[nodiscard]] bool bare_list() const { return bare_list_; }
  /// The document's own closing bracket was read.
  [[nodiscard]] bool complete() const { return started_ && open_.empty() && !in_events_; }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool has_garbage() const { return has_garbage_; }
  [[nodiscard]] std::uint64_t garbage_offset() const { return garbage_offset_; }
  [[nodiscard]] std::vector<Fact> take_facts() { return std::move(facts_); }

 private:
  void read_byte(char c, std::uint64_t offset);
  void end_value();
  void enter_events();

  std::string open_;  // the brackets that are open, outermost first
  std::string text_;  // the string being read, or the last one
  std::string key_;   // of the member being read, when its value has just begun
  std::string fact_key_;
  std::string fact_;  // value text of the member of the fact level being read
  std::vector<Fact> facts_;
  std::size_t fact_depth_ = 1;  // members of objects at this depth are facts
  bool in_string_ = false;
  bool escaped_ = false;
  bool after_colon_ = false;  // the next byte that is no space begins a value
  bool capturing_ = false;
  bool in_events_ = false;
  bool saw_events_ = false;
  bool started_ = false;
  bool bare_list_ = false;
  bool has_garbage_ = false;
  std::uint64_t garbage_offset_ = 0;
};

}  // namespace fathom::chrome
