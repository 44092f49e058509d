// TraceJson: writes names and times of a trace as JSON, with each name looked at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "export/write_buffer.h"
#include "store/trace.h"

namespace fathom {

/// Compact where nothing else is asked for. Trace and buffer must outlive it.
class TraceJson : public BasicJsonWriter<WriteBuffer> {
 public:
  TraceJson(const Trace& trace, WriteBuffer& out)
      : BasicJsonWriter(out, kJsonCompact, {}, JsonEscapes::canonical),
        trace_(trace),
        plain_(trace.strings.size(), Plain::unknown) {}

  /// Names that hold nothing to escape are copied as they are.
  TraceJson& name(StringId id);
  /// A number where the text is one as it is written in decimal, else a text.
  TraceJson& number_or_text(std::string_view text);
  /// Microseconds with what is left of them: exact.
  TraceJson& micro(std::int64_t ns);

 private:
  enum class Plain : std::uint8_t { unknown, yes, no };

  const Trace& trace_;
  std::vector<Plain> plain_;
};

}  // namespace fathom
