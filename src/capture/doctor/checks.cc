// Runs all groups of checks of fathom doctor.
#include "capture/doctor/checks.h"

#include <cstdlib>

#include "capture/system/files.h"

namespace fathom::capture {

std::string_view to_string(CheckState state) {
  switch (state) {
    case CheckState::fine:
      return "ok";
    case CheckState::limited:
      return "limited";
    case CheckState::missing:
      return "missing";
    case CheckState::fact:
      break;
  }
  return "info";
}

const char* Surroundings::environment_variable(const char* name) { return std::getenv(name); }

std::string Surroundings::value(const char* name) const {
  const char* const text = variable(name);
  return text == nullptr ? std::string() : text;
}

bool has_capability(const std::string& root, unsigned number) {
  const std::string status = read_small(root + "/proc/self/status").value_or("");
  return (std::strtoull(field_of(status, "CapEff").c_str(), nullptr, 16) >> number & 1U) != 0;
}

}  // namespace fathom::capture
