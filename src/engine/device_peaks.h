// The device to compare with, by name or from a file.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/device_specs.h"
#include "base/result.h"

namespace fathom {

/// Devices that a user describes, and the one chosen. Owns what the specs refer to.
class DevicePeaks {
 public:
  /// What --peaks asks for. `name` is empty (nothing is chosen), the name of a known device ("H100
  /// SXM", in any case; words that only one device's name holds are enough), or a file: one JSON
  /// object with the members of DeviceSpec (numbers in FLOP/s, bytes/s and bytes; "name" is needed,
  /// what is left out counts as not there), or a list of which the first counts. Errors: no such
  /// device or file, with the nearest name; not such a file, with the place.
  static Result<DevicePeaks> asked(const std::string& name);

  /// The same without files: for those who may not have one read.
  static Result<DevicePeaks> known(const std::string& name);

  /// nullptr where nothing was chosen. Lives as long as this object or what it was moved to.
  [[nodiscard]] const DeviceSpec* chosen() const { return chosen_; }

 private:
  static Result<DevicePeaks> named(const std::string& name);
  static Result<DevicePeaks> from_file(const std::string& path);

  std::deque<std::string> texts_;
  std::deque<DeviceSpec> specs_;  // a deque keeps its elements where they are when it moves
  const DeviceSpec* chosen_ = nullptr;
};

}  // namespace fathom
