// Keeps each text once: a hash table that only grows, and a cache per thread.
#include "capture/inside/text_table.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include <fathom/record.h>

#include "base/utf8.h"
#include "capture/inside/attempt.h"
#include "capture/inside/chunks.h"
#include "capture/inside/inside_guard.h"

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

/// `text` is written last, when the rest is there to be read.
struct Entry {
  std::uint64_t hash = 0;
  std::size_t size = 0;
  std::atomic<const char*> text{nullptr};
};

/// Never freed: threads and the exit of the program may use it to the very end.
class Table {
 public:
  /// Null where it is not in the table. Takes no lock.
  [[nodiscard]] const char* find(std::uint64_t hash, std::string_view text) const {
    return look(hash, text).text;
  }
  /// kOtherText where there is no room, null where there is no memory. The lock is held.
  const char* add(std::uint64_t hash, std::string_view text) {
    const Place place = look(hash, text);
    if (place.text != nullptr) return place.text;
    if (count_ >= kMostTexts || full(text.size() + 1)) return kOtherText.data();
    const char* const copy = keep(text);
    if (copy == nullptr) return nullptr;
    Entry& slot = slots_[place.at];
    slot.hash = hash;
    slot.size = text.size();
    slot.text.store(copy, std::memory_order_release);
    ++count_;
    return copy;
  }

 private:
  struct Place {
    std::size_t at = 0;
    const char* text = nullptr;  ///< Null: it would be there, and is not.
  };
  [[nodiscard]] Place look(std::uint64_t hash, std::string_view text) const {
    for (std::size_t at = hash % kSlots;; at = (at + 1) % kSlots) {
      const Entry& slot = slots_[at];
      const char* const known = slot.text.load(std::memory_order_acquire);
      if (known == nullptr) return {at, nullptr};
      if (slot.hash == hash && std::string_view(known, slot.size) == text) return {at, known};
    }
  }
  [[nodiscard]] bool full(std::size_t needed) const {
    return left_ < needed && bytes_ + kPieceBytes > kMostBytes;
  }
  const char* keep(std::string_view text) {
    if (left_ < text.size() + 1) {
      piece_ = static_cast<char*>(memory_of_system(kPieceBytes));
      left_ = piece_ == nullptr ? 0 : kPieceBytes;
      if (piece_ == nullptr) return nullptr;
      bytes_ += kPieceBytes;
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

}  // namespace

std::string_view shortened(std::string_view text) noexcept {
  text = text.substr(0, text.find('\0'));
  return cut_utf8(text, kLongest);
}

const char* permanent(std::string_view text) noexcept {
  text = shortened(text);
  const std::uint64_t hash = hash_of(text);
  if (const char* const known = table().find(hash, text)) return known;
  const Inside guard;
  const std::lock_guard lock(mutex());
  const char* const kept = table().add(hash, text);
  if (kept != nullptr) return kept;
  count_failure();
  return kOtherText.data();
}

void lock_texts() noexcept { mutex().lock(); }
void unlock_texts() noexcept { mutex().unlock(); }

}  // namespace fathom::inside

namespace fathom::detail {

const char* intern(std::string_view text) noexcept { return inside::permanent(text); }

}  // namespace fathom::detail
