// A baseline: what some runs of a program were like, as one small file to keep beside its source.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/held_files.h"
#include "base/result.h"
#include "compare/folded_rows.h"
#include "compare/runs.h"

namespace fathom {

/// The first words of every baseline file.
inline constexpr std::string_view kBaselineSchema = "fathom.baseline/";
/// The version that is written. Older ones are read: version 1 knew no phases of rows.
inline constexpr int kBaselineVersion = 2;
/// What was saved at one moment.
struct Snapshot {
  std::string saved;  ///< UTC: "2026-11-23T20:50:00Z".
  Runs runs;          ///< Not empty.
};

/// Each saving replaces `last`; only one that is accepted replaces `accepted`. So small losses,
/// each within its budget beside `last`, do not add up unseen.
struct SavedBaseline {
  Snapshot last;
  std::optional<Snapshot> accepted;  ///< Unset: `last` is.
  int version = kBaselineVersion;    ///< Of the file that it was read from.

  [[nodiscard]] const Snapshot& accepted_one() const { return accepted ? *accepted : last; }
};

/// No file is larger.
inline constexpr std::size_t kLargestBaseline = 200'000;

/// As JSON: docs/baseline.schema.json. Rows that do not fit are added up by bucket, the shortest
/// first. Error: invalid_argument where step lengths, counters and conditions do not fit.
Result<std::string> baseline_text(const SavedBaseline& baseline);

/// What to know of a file of an older version, with what to do; "" for today's.
std::string version_note(const SavedBaseline& baseline);

/// So many bytes show whether a file is one.
inline constexpr std::size_t kBaselineHead = 200;
/// Is this the beginning of a baseline file, of whatever version?
bool looks_like_baseline(std::string_view text);

/// Errors: unsupported for a newer version; corrupt, with what is missing or wrong.
Result<SavedBaseline> parse_baseline(std::string_view text);

/// Reads a file. Unset where it is none, or no baseline; an error where it is one and wrong. What
/// is no baseline stays open in `held` for who reads it as something else.
Result<std::optional<SavedBaseline>> baseline_in(const std::string& path, HeldFiles& held);
Result<std::optional<SavedBaseline>> baseline_in(const std::string& path);

}  // namespace fathom
