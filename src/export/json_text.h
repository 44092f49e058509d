// Strings of a trace as JSON, with each name looked at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "export/write_buffer.h"
#include "store/trace.h"

namespace fathom {

/// Writes strings in quotes. Names that hold nothing to escape are copied as they are.
class JsonText {
 public:
  JsonText(const Trace& trace, WriteBuffer& out)
      : trace_(trace), out_(out), plain_(trace.strings.size(), Plain::unknown) {}

  void quoted(StringId id);
  void quoted(std::string_view text);
  /// A number where the text is one as it is written in decimal, else in quotes.
  void number_or_quoted(std::string_view text);

 private:
  enum class Plain : std::uint8_t { unknown, yes, no };

  const Trace& trace_;
  WriteBuffer& out_;
  std::vector<Plain> plain_;
};

/// A real number as short as it can be read back exactly.
void write_real(WriteBuffer& out, double value);

}  // namespace fathom
