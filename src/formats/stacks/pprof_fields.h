// Numbers of the fields of a pprof profile, for its reader and its writer.
// Source: github.com/google/pprof, proto/profile.proto.
#pragma once

#include <cstdint>

namespace fathom {

struct PprofProfile {
  static constexpr std::uint32_t kSampleType = 1;
  static constexpr std::uint32_t kSample = 2;
  static constexpr std::uint32_t kMapping = 3;
  static constexpr std::uint32_t kLocation = 4;
  static constexpr std::uint32_t kFunction = 5;
  static constexpr std::uint32_t kString = 6;
  static constexpr std::uint32_t kDefaultType = 14;
};

/// Texts are numbers of strings here and below.
struct PprofValueType {
  static constexpr std::uint32_t kType = 1;
  static constexpr std::uint32_t kUnit = 2;
};

struct PprofSample {
  static constexpr std::uint32_t kLocation = 1;  ///< The innermost first.
  static constexpr std::uint32_t kValue = 2;
  static constexpr std::uint32_t kLabel = 3;
};

struct PprofLabel {
  static constexpr std::uint32_t kKey = 1;
  static constexpr std::uint32_t kText = 2;
  static constexpr std::uint32_t kNumber = 3;
};

struct PprofMapping {
  static constexpr std::uint32_t kId = 1;
  static constexpr std::uint32_t kFile = 5;
};

struct PprofLocation {
  static constexpr std::uint32_t kId = 1;
  static constexpr std::uint32_t kMapping = 2;
  static constexpr std::uint32_t kLine = 4;  ///< An inlined function first.
};

struct PprofLine {
  static constexpr std::uint32_t kFunction = 1;
  static constexpr std::uint32_t kLine = 2;
};

struct PprofFunction {
  static constexpr std::uint32_t kId = 1;
  static constexpr std::uint32_t kName = 2;
  static constexpr std::uint32_t kSystemName = 3;
  static constexpr std::uint32_t kFile = 4;
};

}  // namespace fathom
