// Puts a failed request and the limits into words.
#include "base/out_of_memory.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "base/thread_pool.h"

namespace fathom {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit thread_local std::size_t refused = 0;

/// Text in memory of the caller's.
class TextInRoom {
 public:
  explicit TextInRoom(std::span<char> room) : room_(room) {}

  void append(std::string_view text) {
    const std::size_t fits = std::min(text.size(), room_.size() - size_);
    std::copy_n(text.data(), fits, room_.data() + size_);
    size_ += fits;
  }
  [[nodiscard]] std::string_view text() const { return {room_.data(), size_}; }

 private:
  std::span<char> room_;
  std::size_t size_ = 0;
};

/// So short that std::string has room for it in itself.
std::string short_text(std::uint64_t bytes) { return bytes_text(static_cast<std::int64_t>(bytes)); }

template <typename Text>
void append_limit(Text& text, const MetLimit& met) {
  text.append(short_text(met.used));
  text.append(" of ");
  text.append(met.of);
  text.append(" in use, the limit is ");
  text.append(short_text(met.limit));
  text.append(" (");
  text.append(met.which);
  text.append("); ");
  text.append(met.remedy);
}

template <typename Text>
void append_failure(Text& text, std::string_view during, std::size_t requested,
                    const MetLimit& met) {
  text.append("out of memory");
  if (!during.empty()) {
    text.append(" while ");
    text.append(during);
  }
  text.append(": a request for ");
  text.append(requested == 0 ? std::string("more") : short_text(requested));
  text.append(" failed with ");
  append_limit(text, met);
}

}  // namespace

std::size_t last_refused() noexcept { return refused; }

void note_refused(std::size_t bytes) noexcept { refused = bytes; }

std::string out_of_memory_text(const std::bad_alloc& error, std::string_view during) {
  const auto* const known = dynamic_cast<const OutOfMemory*>(&error);
  const std::size_t requested = known == nullptr ? 0 : known->requested();
  const MemoryUse use = known == nullptr ? memory_use() : known->use();
  std::string text;
  append_failure(text, during, requested,
                 met_limit(use, requested, memory_limits(), last_pool_threads()));
  return text;
}

std::string_view out_of_memory_text_in(std::span<char> room, const OutOfMemory& error) noexcept {
  TextInRoom text(room);
  append_failure(text, "", error.requested(),
                 met_limit(error.use(), error.requested(), resource_limits(), last_pool_threads()));
  return text.text();
}

std::string limit_text(const MetLimit& met) {
  std::string text;
  append_limit(text, met);
  return text;
}

}  // namespace fathom
