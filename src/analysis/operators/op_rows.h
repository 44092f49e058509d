// The rows of an operator table while it is being summed.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/operators/op_table.h"
#include "store/column.h"

namespace fathom {

/// Finds or adds rows by (canonical name, kind, group). References stay valid only until the next
/// row is added.
class OpRows {
 public:
  OpRows(std::size_t names, bool grouped) : grouped_(grouped) {
    if (grouped) return;
    for (Column<std::uint32_t>& rows : dense_) rows.resize(names);
    rows_.reserve(names);  // what is not needed of it is never touched
  }

  std::size_t index_of(std::uint32_t name, OpRowKind kind, std::uint32_t group) {
    const auto kind_number = static_cast<std::uint32_t>(kind);
    std::uint32_t& number =
        grouped_ ? sparse_.try_emplace(Key{name, kind_number, group}, kNoRow).first->second
                 : dense_[kind_number][name];
    if (number == kNoRow) {
      rows_.push_back({.kind = kind, .group = group});
      names_.push_back(name);
      number = static_cast<std::uint32_t>(rows_.size());
    }
    return number - 1;
  }
  OpRow& row(std::size_t index) { return rows_[index]; }
  [[nodiscard]] std::uint32_t name_of(std::size_t index) const { return names_[index]; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  std::vector<OpRow> take() { return std::move(rows_); }

 private:
  static constexpr std::uint32_t kNoRow = 0;  // rows are numbered from 1
  static constexpr std::size_t kDenseKinds =
      4;  // host … device_annotation: the rows that have a name

  struct Key {
    std::uint32_t name;
    std::uint32_t kind;
    std::uint32_t group;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t mixed = (std::uint64_t{key.name} << 32 | key.group) * 0x9e3779b97f4a7c15U;
      return mixed ^ mixed >> 31 ^ key.kind;
    }
  };

  bool grouped_;
  std::array<Column<std::uint32_t>, kDenseKinds> dense_;  // by name; without groups
  std::unordered_map<Key, std::uint32_t, Hash> sparse_;
  std::vector<OpRow> rows_;
  std::vector<std::uint32_t> names_;  // canonical name of each row
};

}  // namespace fathom
