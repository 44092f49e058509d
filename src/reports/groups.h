// What tables that group device activities share: dense numbers for keys, and the operators behind
// a group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// Numbers 64-bit keys 0, 1, 2, … in the order in which they are first seen.
class GroupIndex {
 public:
  std::size_t of(std::uint64_t key) {
    if (key == last_key_ && !numbers_.empty()) return last_;
    last_key_ = key;
    last_ = numbers_.try_emplace(key, numbers_.size()).first->second;
    return last_;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
  std::uint64_t last_key_ = 0;
  std::size_t last_ = 0;
};

inline std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

/// Who launched an activity, as a key that can be compared: the name of its operator, or one of two
/// special keys above all names.
std::uint32_t op_key(const Context& context, SliceId activity);
/// The name behind an op_key: "(no operator)" and "(unattributed)" for the special ones.
std::string op_key_text(const Trace& trace, std::uint32_t key);

/// A value that several activities may or may not share.
template <typename T>
class Agreed {
 public:
  void add(const T& value) {
    if (count_++ == 0) value_ = value;
    agree_ = agree_ && value_ == value;
  }
  /// The value, when at least one was added and all agree.
  [[nodiscard]] std::optional<T> get() const {
    return count_ != 0 && agree_ ? std::optional<T>(value_) : std::nullopt;
  }

 private:
  T value_{};
  std::size_t count_ = 0;
  bool agree_ = true;
};

/// Unset where they differ, or where `absent` says that it was not recorded.
template <typename T>
std::optional<T> shared_value(const Agreed<T>& shared, T absent) {
  const std::optional<T> value = shared.get();
  return value && *value != absent ? value : std::nullopt;
}

/// Counts the operators of one group. Most groups have few, for which a list does.
class OpCounts {
 public:
  void add(std::uint32_t key) {
    if (places_.empty()) {
      for (auto& [known, count] : counts_) {
        if (known == key) {
          ++count;
          return;
        }
      }
      counts_.emplace_back(key, 1);
      if (counts_.size() > kFew) index();
      return;
    }
    const auto [at, added] = places_.try_emplace(key, counts_.size());
    if (added) counts_.emplace_back(key, 0);
    ++counts_[at->second].second;
  }
  /// "aten::mm ×12, aten::addmm ×3": most frequent first, then by name; without ×1 for a single
  /// operator.
  [[nodiscard]] std::string text(const Trace& trace) const;

 private:
  static constexpr std::size_t kFew = 16;

  void index() {
    for (std::size_t i = 0; i < counts_.size(); ++i) places_.emplace(counts_[i].first, i);
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> counts_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  // in counts_, once there are many
};

}  // namespace fathom
