// MemorySink: keeps what is written.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_sink.h"

namespace fathom {

/// Appends to a text of its own. Never fails.
class MemorySink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  Result<void> finish() override { return {}; }

  std::string text;
};

}  // namespace fathom
