// Tables shared by the parsing threads: equal values get one row number.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom::chrome {

/// Distinct values of T in the order they came. Safe to use from several threads at once.
template <typename T, typename Hash>
class Interner {
 public:
  std::uint32_t intern(const T& value) {
    const std::scoped_lock lock(mutex_);
    const auto [at, added] = rows_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (added) values_.push_back(value);
    return at->second;
  }
  /// The values; empties the interner.
  std::vector<T> take() {
    const std::scoped_lock lock(mutex_);
    rows_.clear();
    return std::exchange(values_, {});
  }

 private:
  std::mutex mutex_;
  std::unordered_map<T, std::uint32_t, Hash> rows_;
  std::vector<T> values_;
};

}  // namespace fathom::chrome
