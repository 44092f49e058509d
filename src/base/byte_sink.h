// ByteSink: where a writer's bytes go.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace fathom {

/// Takes bytes in order. Not thread-safe.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  virtual Result<void> write(std::string_view bytes) = 0;
  /// After the last byte. Call once.
  virtual Result<void> finish() = 0;
  /// True when nobody reads any more: whatever follows is in vain.
  [[nodiscard]] virtual bool closed() const { return false; }
};

/// Compresses into one gzip member; `below` must outlive it, and is finished by it.
std::unique_ptr<ByteSink> gzip_sink(ByteSink& below);

}  // namespace fathom
