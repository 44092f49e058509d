// Puts a failed request and the limits into words.
#include "base/out_of_memory.h"

#include "base/quantity_text.h"

namespace fathom {

std::string out_of_memory_text(const std::bad_alloc& error, std::string_view during) {
  const auto* const known = dynamic_cast<const OutOfMemory*>(&error);
  const std::size_t requested = known == nullptr ? 0 : known->requested();
  const MemoryUse use = known == nullptr ? memory_use() : known->use();
  std::string text = "out of memory";
  if (!during.empty()) text += " while " + std::string(during);
  text += requested == 0
              ? ": a request for more failed"
              : ": a request for " + bytes_text(static_cast<std::int64_t>(requested)) + " failed";
  return text + " with " + limit_text(use, requested, memory_limits());
}

}  // namespace fathom
