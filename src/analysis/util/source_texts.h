// SourceTexts: the lines of the source files that a recording kept, and of others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Borrows from the trace; lines live as long as this.
class SourceTexts {
 public:
  explicit SourceTexts(const Trace& trace);
  /// A file that was not kept. `file` is borrowed.
  void add(std::string_view file, std::string text);
  /// Line `number`, from 1 on, without what ends it; "" where it was not kept.
  [[nodiscard]] std::string_view line(std::string_view file, std::uint32_t number) const;
  /// How many lines of a file are known.
  [[nodiscard]] std::uint32_t lines(std::string_view file) const;
  [[nodiscard]] bool has(std::string_view file) const { return lines_.contains(file); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }

 private:
  void cut(std::string_view file, std::string_view text);

  std::deque<std::string> texts_;  // a deque keeps its elements where they are when it grows
  std::map<std::string_view, std::vector<std::string_view>> lines_;
};

}  // namespace fathom
