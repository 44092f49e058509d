// SourceTexts: the lines of the source files that a recording kept.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Borrows from the trace.
class SourceTexts {
 public:
  explicit SourceTexts(const Trace& trace);
  /// Line `number`, from 1 on, without what ends it; "" where it was not kept.
  [[nodiscard]] std::string_view line(std::string_view file, std::uint32_t number) const;
  /// How many lines of a file are known.
  [[nodiscard]] std::uint32_t lines(std::string_view file) const;
  [[nodiscard]] bool empty() const { return lines_.empty(); }

 private:
  std::map<std::string_view, std::vector<std::string_view>> lines_;
};

}  // namespace fathom
