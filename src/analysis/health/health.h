// Is the capture complete, and are its numbers true? Counted checks, before any other number is
// believed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// The outcome of one check, from harmless to harmful.
enum class CheckStatus : std::uint8_t {
  not_applicable,  ///< The trace holds nothing that this check is about.
  ok,
  note,     ///< Worth knowing; no number is wrong because of it.
  warning,  ///< Some numbers are less true than they look.
  bad,      ///< The numbers named in `affects` must not be trusted.
};
std::string_view to_string(CheckStatus status);

/// One check: what was looked for, how often it was found, and what follows.
struct HealthCheck {
  std::string_view section;  ///< "reading", "links", "time", "structure", "steps", "recording".
  std::string_view id;       ///< Stable machine name, e.g. "activities_without_launch".
  CheckStatus status = CheckStatus::not_applicable;
  std::uint64_t count = 0;    ///< How many were found.
  std::uint64_t of = 0;       ///< Out of how many; 0 where a share makes no sense.
  std::string what;           ///< What `count` counts: "device activities have no launch".
  bool stands_alone = false;  ///< `what` is a clause of its own and needs no number in front.
  bool loss = false;    ///< What was found means that a part of the recording is not in the tables.
  std::string example;  ///< The first one: its name and its time, or its byte offset. May be empty.
  std::string consequence;  ///< What it means, in a few words: "host attribution is incomplete".
  std::string affects;      ///< Which numbers it makes untrustworthy.
  std::string advice;  ///< What to do about it. Consequence, affects and advice are empty when ok.
  double share =
      -1;  ///< 0…1 when the share is not count / of (profiler overhead: of the time), else -1.

  /// 0…100, or -1 where a share makes no sense.
  [[nodiscard]] double share_percent() const;
  /// "509 of 1,707 device activities have no launch: host attribution is incomplete"; empty when
  /// ok.
  [[nodiscard]] std::string sentence() const;
};

struct Health {
  std::vector<HealthCheck> checks;

  /// The worst status of all checks.
  [[nodiscard]] CheckStatus worst() const;
  /// One line: "good (2 notes)", or the worst finding and how many more there are:
  /// "509 of 1,707 device activities have no launch: host attribution is incomplete".
  [[nodiscard]] std::string summary() const;
  /// The findings of lost data that summary() does not name: each is worth a line wherever only the
  /// summary is shown, however harmless its status. Valid as long as `checks` does not change.
  [[nodiscard]] std::vector<const HealthCheck*> losses_beside_summary() const;
  /// The check of that id, or nullptr.
  [[nodiscard]] const HealthCheck* find(std::string_view id) const;

 private:
  /// The finding that summary() names, or nullptr when nothing is worse than a note.
  [[nodiscard]] const HealthCheck* named_in_summary() const;
};

/// Runs every check on the whole trace; the selection is ignored, since the capture is judged, not
/// a part of it. O(n) beyond the analyses it asks for.
Health compute_health(const Context& context);

}  // namespace fathom
