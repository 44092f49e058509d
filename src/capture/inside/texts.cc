// A hash table that only grows, and in each thread the texts it met last.
#include "capture/inside/texts.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#include <fathom/record.h>

namespace fathom::inside {
namespace {

constexpr std::size_t kMostTexts = std::size_t{1} << 16;
constexpr std::size_t kSlots = 2 * kMostTexts;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kLongest = 4096;

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  return value ^ value >> 29;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = mix(text.size() + 1);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    hash = mix(hash ^ word);
  }
  std::uint64_t word = 0;
  if (at < text.size()) std::memcpy(&word, text.data() + at, text.size() - at);
  return mix(hash ^ word);
}

struct Entry {
  std::uint64_t hash = 0;
  const char* text = nullptr;
  std::size_t size = 0;
  [[nodiscard]] bool is(std::uint64_t of, std::string_view other) const {
    return hash == of && std::string_view(text, size) == other;
  }
};

/// Never freed: threads and the exit of the program may use it to the very end.
class Table {
 public:
  const char* text(std::uint64_t hash, std::string_view text) {
    std::size_t at = hash % kSlots;
    for (; slots_[at].text != nullptr; at = (at + 1) % kSlots)
      if (slots_[at].is(hash, text)) return slots_[at].text;
    if (count_ >= kMostTexts) return kOtherText.data();
    const char* const copy = keep(text);
    if (copy == nullptr) return kOtherText.data();
    slots_[at] = {hash, copy, text.size()};
    ++count_;
    return copy;
  }

 private:
  const char* keep(std::string_view text) {
    if (left_ < text.size() + 1) {
      if (bytes_ + kPieceBytes > kMostBytes) return nullptr;
      piece_ = new (std::nothrow) char[kPieceBytes];
      if (piece_ == nullptr) return nullptr;
      bytes_ += kPieceBytes;
      left_ = kPieceBytes;
    }
    char* const at = piece_;
    text.copy(at, text.size());
    at[text.size()] = '\0';
    piece_ += text.size() + 1;
    left_ -= text.size() + 1;
    return at;
  }

  std::array<Entry, kSlots> slots_{};
  std::size_t count_ = 0;
  char* piece_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

std::mutex& mutex() {
  static constinit std::mutex made;
  return made;
}

/// In zeroed memory that costs nothing until it is used.
Table& table() {
  static constinit Table made;
  return made;
}

constexpr std::size_t kRecent = 64;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread's own
constinit thread_local std::array<Entry, kRecent> recent{};

}  // namespace

std::string_view shortened(std::string_view text) noexcept {
  text = text.substr(0, text.find('\0'));
  if (text.size() <= kLongest) return text;
  // Not within a character of UTF-8, which has four bytes at most.
  std::size_t end = kLongest;
  constexpr unsigned kKind = 0xc0;
  constexpr unsigned kWithin = 0x80;
  while (end > kLongest - 4 && (static_cast<unsigned char>(text[end]) & kKind) == kWithin) --end;
  return text.substr(0, end);
}

const char* permanent(std::string_view text) noexcept {
  text = shortened(text);
  const std::uint64_t hash = hash_of(text);
  Entry& entry = recent[hash % kRecent];
  if (entry.text != nullptr && entry.is(hash, text)) return entry.text;
  const std::lock_guard lock(mutex());
  const char* const kept = table().text(hash, text);
  entry = {hash, kept, kept == kOtherText.data() ? kOtherText.size() : text.size()};
  if (entry.size != text.size()) entry = {};
  return kept;
}

void lock_texts() noexcept { mutex().lock(); }
void unlock_texts() noexcept { mutex().unlock(); }

}  // namespace fathom::inside

namespace fathom::detail {

const char* intern(std::string_view text) noexcept { return inside::permanent(text); }

}  // namespace fathom::detail
