// The profiling checklist: what makes a recording one to judge by, and whether this one is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct Diagnosis;
struct RuleContext;

enum class ChecklistStatus : std::uint8_t {
  met,
  not_met,
  not_recordable,  ///< This kind of recording cannot hold it.
};
/// Stable, for JSON: "not_met".
std::string_view to_string(ChecklistStatus status);

struct ChecklistItem {
  std::string_view id;     ///< Stable: "warmed_up".
  std::string_view title;  ///< "Warmed up".
  ChecklistStatus status = ChecklistStatus::met;
  std::string reason;  ///< A sentence without its full stop.
};

/// In the order in which a recording is made. The diagnosis has its health, baseline, verdict,
/// findings, outcomes of rules and run. O(n).
std::vector<ChecklistItem> make_checklist(const RuleContext& rules, const Diagnosis& diagnosis);

}  // namespace fathom
