// What reading a file had to repair, skip, or did not know: counted by kind, with the first place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fathom {

/// How much a repair may matter.
enum class Severity : std::uint8_t {
  info,       ///< Nothing was lost.
  repaired,   ///< A value was fixed by a rule and may differ from what was meant.
  data_loss,  ///< Something that was in the file is not in the trace.
};

enum class Repair : std::uint8_t {
  truncated,            ///< The file ends in the middle.
  malformed_event,      ///< An event that cannot be understood; skipped.
  missing_close,        ///< The closing brackets are missing.
  trailing_comma,       ///< A comma before a closing bracket.
  missing_comma,        ///< Two events without a comma between them.
  trailing_garbage,     ///< Bytes after the end of the document.
  invalid_escape,       ///< A backslash sequence JSON does not know; kept as written.
  control_character,    ///< A raw control character in a string; kept.
  unescaped_quote,      ///< A quote inside a string without a backslash.
  invalid_utf8,         ///< Bytes that are not UTF-8; replaced by U+FFFD.
  not_a_number,         ///< NaN or Infinity where a number is expected.
  duplicate_key,        ///< A key that occurs twice in one object; the last one counts.
  number_out_of_range,  ///< A number too large for its column.
  absurd_duration,  ///< A duration beyond all sense (> 10^14 ns and beyond the rest of the trace);
                    ///< set to 0.
  negative_duration,  ///< A duration below zero; set to 0.
  missing_time,       ///< A slice without a start or duration.
  zero_time,  ///< ts 0 and dur 0: the recorder lost the time; the event is kept out of the tables.
  unmatched_begin,  ///< B or b without its end; closed at the end of the track.
  unmatched_end,    ///< E or e without its begin; skipped.
  unknown_phase,    ///< A ph that the format does not define; skipped.
  too_deep,         ///< Nesting beyond the limit; skipped.
  decompression,    ///< The compressed stream is damaged; what came before is kept.
  wrong_type,       ///< A field of an unexpected type; ignored.
  damaged_block,    ///< A stretch of a capture file that is no sound block; skipped.
  missing_block,    ///< A block of a capture file that its recorder could not write.
  dropped_records,  ///< Records that the recorder counted but could not keep.
};
inline constexpr std::size_t kRepairs = static_cast<std::size_t>(Repair::dropped_records) + 1;

/// Stable machine name ("truncated"), a sentence for people, and how bad it is.
struct RepairInfo {
  std::string_view id;
  std::string_view title;
  Severity severity;
};
const RepairInfo& info(Repair repair);

struct RepairCount {
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0;  ///< Byte in the uncompressed input.
  std::string example;             ///< A few bytes of the first one, made printable; may be empty.
};

class ImportLog {
 public:
  /// Counts a repair; the earliest offset wins as the first.
  void add(Repair repair, std::uint64_t offset, std::string_view example = {},
           std::uint64_t count = 1);
  /// Counts an event, category or attribute that Fathom does not read ("attribute Foo").
  void add_unknown(std::string_view what, std::uint64_t count = 1);
  void merge(const ImportLog& other);
  /// Forgets everything (for reuse).
  void clear();

  [[nodiscard]] const RepairCount& operator[](Repair repair) const {
    return repairs_[static_cast<std::size_t>(repair)];
  }
  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& unknown() const {
    return unknown_;
  }

 private:
  std::array<RepairCount, kRepairs> repairs_;
  std::map<std::string, std::uint64_t, std::less<>> unknown_;
};

}  // namespace fathom
