// A text that many rows have, stored once.
#pragma once

#include <atomic>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace fathom {

/// An immutable text of one pointer. Copies share it, also between threads; whoever makes the same
/// text twice stores it twice, and it is equal all the same.
class SharedText {
 public:
  SharedText() = default;
  template <typename Text>
  requires std::convertible_to<const Text&, std::string_view>
  // NOLINTNEXTLINE(google-explicit-constructor): a text is written where one is wanted.
  SharedText(const Text& text) : stored_(store(text)) {}
  SharedText(const SharedText& other) : stored_(other.stored_) {
    if (stored_ != nullptr) stored_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : stored_(std::exchange(other.stored_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(stored_, other.stored_);
    return *this;
  }
  ~SharedText() {
    if (stored_ != nullptr && stored_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      ::operator delete(stored_);
  }

  [[nodiscard]] bool empty() const { return stored_ == nullptr; }
  /// Borrowed from this object.
  [[nodiscard]] std::string_view view() const {
    return stored_ == nullptr
               ? std::string_view()
               : std::string_view(reinterpret_cast<const char*>(stored_ + 1), stored_->size);
  }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  // NOLINTNEXTLINE(google-explicit-constructor): it is read as a text everywhere.
  operator std::string_view() const { return view(); }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.stored_ == b.stored_ || a.view() == b.view();
  }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) {
    if (a.stored_ == b.stored_) return std::strong_ordering::equal;
    return a.view() <=> b.view();
  }
  template <typename Text>
  requires(std::convertible_to<const Text&, std::string_view> &&
           !std::same_as<Text, SharedText>) friend bool
  operator==(const SharedText& a, const Text& b) {
    return a.view() == std::string_view(b);
  }

 private:
  /// The text follows it.
  struct Stored {
    std::atomic<std::uint32_t> owners;
    std::uint32_t size;
  };

  static Stored* store(std::string_view text) {
    if (text.empty()) return nullptr;
    auto* const stored = new (::operator new(sizeof(Stored) + text.size()))
        Stored{1, static_cast<std::uint32_t>(text.size())};
    std::memcpy(static_cast<void*>(stored + 1), text.data(), text.size());
    return stored;
  }

  Stored* stored_ = nullptr;
};

}  // namespace fathom
