// MadeMemory: the memory of a process that a test has made up.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "sample/memory.h"

namespace fathom::sample {

class MadeMemory final : public Memory {
 public:
  /// `size` zero bytes from `at` on.
  void map(Address at, std::size_t size) { parts_[at].assign(size, std::byte{0}); }
  void unmap(Address at) { parts_.erase(at); }

  template <typename T>
  requires std::is_integral_v<T>
  void put(Address at, T value) { put_bytes(at, std::as_bytes(std::span(&value, 1))); }
  void put_text(Address at, std::string_view text) {
    put_bytes(at, std::as_bytes(std::span(text)));
  }
  void put_bytes(Address at, std::span<const std::byte> bytes) {
    const std::span<std::byte> to = find(at, bytes.size());
    if (to.empty()) std::abort();
    std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  /// Called before each piece is read: the process goes on meanwhile.
  void between(std::function<void()> change) { change_ = std::move(change); }
  [[nodiscard]] std::size_t reads() const { return reads_; }
  /// Each of which has read one piece or several.
  [[nodiscard]] std::size_t calls() const { return calls_; }

  std::size_t read_pieces(std::span<const Piece> pieces) const override {
    ++calls_;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ++reads_;
      if (change_) change_();
      const std::span<std::byte> from = find(pieces[i].at, pieces[i].to.size());
      if (from.empty() && !pieces[i].to.empty()) return i;
      if (!from.empty()) std::memcpy(pieces[i].to.data(), from.data(), from.size());
    }
    return pieces.size();
  }

 private:
  [[nodiscard]] std::span<std::byte> find(Address at, std::size_t size) const {
    auto part = parts_.upper_bound(at);
    if (part == parts_.begin()) return {};
    --part;
    const Address offset = at - part->first;
    if (offset > part->second.size() || size > part->second.size() - offset) return {};
    return std::span(part->second).subspan(offset, size);
  }

  mutable std::map<Address, std::vector<std::byte>> parts_;
  mutable std::size_t reads_ = 0;
  mutable std::size_t calls_ = 0;
  std::function<void()> change_;
};

}  // namespace fathom::sample
