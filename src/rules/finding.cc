// Names of severities, confidences, efforts and families.
#include "rules/finding.h"

namespace fathom {

std::string_view to_string(Weight weight) {
  switch (weight) {
    case Weight::note:
      return "note";
    case Weight::warning:
      return "warning";
    case Weight::critical:
      return "critical";
  }
  return "";
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::low:
      return "low";
    case Confidence::medium:
      return "medium";
    case Confidence::high:
      return "high";
  }
  return "";
}

std::string_view to_string(Effort effort) {
  switch (effort) {
    case Effort::flag:
      return "one flag";
    case Effort::line:
      return "one line";
    case Effort::refactoring:
      return "refactoring";
    case Effort::redesign:
      return "redesign";
  }
  return "";
}

std::string_view to_string(Family family) {
  switch (family) {
    case Family::capture:
      return "capture";
    case Family::input:
      return "input";
    case Family::host:
      return "host";
    case Family::sync:
      return "synchronisation";
    case Family::transfer:
      return "transfer";
    case Family::communication:
      return "communication";
    case Family::straggler:
      return "straggler";
    case Family::allocation:
      return "allocation";
    case Family::compute:
      return "compute";
    case Family::memory_bandwidth:
      return "memory bandwidth";
    case Family::latency:
      return "latency";
    case Family::memory_capacity:
      return "memory capacity";
    case Family::physical:
      return "physical limits";
  }
  return "";
}

}  // namespace fathom
