// Recent: a map of what the program makes without end, of which only the newer part is remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace fathom::cuda {

/// When it is full its older half is forgotten, and counted. What is put again counts as new. Not
/// thread-safe. `Map` as std::map.
template <typename Key, typename Value, typename Map = std::unordered_map<Key, Value>>
class Recent {
 public:
  explicit Recent(std::size_t most) : half_(most / 2) {}

  /// May throw for lack of memory; then it does not hold the key.
  void put(const Key& key, const Value& value) {
    older_.erase(key);
    if (newer_.size() >= half_ && !newer_.contains(key)) {
      forgotten_ += older_.size();
      older_ = std::exchange(newer_, {});
    }
    newer_.insert_or_assign(key, value);
  }
  /// Null where it is not, or no longer, there. Valid until the next put().
  [[nodiscard]] const Value* find(const Key& key) const {
    if (const auto found = newer_.find(key); found != newer_.end()) return &found->second;
    const auto found = older_.find(key);
    return found == older_.end() ? nullptr : &found->second;
  }
  /// Whether it was there.
  bool erase(const Key& key) { return newer_.erase(key) + older_.erase(key) > 0; }
  /// In all.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  std::size_t half_;
  Map newer_;
  Map older_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace fathom::cuda
