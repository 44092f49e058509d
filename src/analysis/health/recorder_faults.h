// What CUPTI itself gets wrong, by version: said where a recording shows the signs of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fathom {

/// By what a recording shows that it has the fault.
enum class FaultSign : std::uint8_t {
  first_launches,   ///< The first launches of a profile have no kernel, later ones have theirs.
  other_launches,   ///< Others have none.
  device_waits,     ///< Waits for the whole device of which there is no record.
  graphs_in_a_row,  ///< Graphs are launched in a profile that is not the first of the recording.
  no_activity,      ///< Launches, and nothing at all that a device did.
  crashes,          ///< Processes that a signal ended as a crash does.
};

/// A fault of CUPTI's.
struct RecorderFault {
  std::uint32_t first;  ///< CUPTI_API_VERSION.
  std::uint32_t last;   ///< The same; the last that has it.
  FaultSign sign;
  std::string_view id;        ///< Of the check of health.
  std::string_view versions;  ///< Of CUDA, for people; docs/cuda.md has them too.
  std::string_view what;      ///< What is counted.
  std::string_view consequence;
  std::string_view affects;
  std::string_view advice;
};
/// By version.
std::span<const RecorderFault> recorder_faults();

}  // namespace fathom
