// Compares rows by the key, and by their other cells where that is equal.
#include "engine/query/sort.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/query/columns.h"

namespace fathom {
namespace {

/// Total order of values: numbers by size, before text by bytes.
std::weak_ordering order(const Value& a, const Value& b) {
  const auto number = [](const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::get<bool>(value) ? 1.0 : 0.0;
  };
  if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b)) {
    return std::get<std::int64_t>(a) <=> std::get<std::int64_t>(b);
  }
  const auto* left = std::get_if<std::string_view>(&a);
  const auto* right = std::get_if<std::string_view>(&b);
  if (left != nullptr && right != nullptr) return *left <=> *right;
  if (left != nullptr || right != nullptr)
    return right != nullptr ? std::weak_ordering::less : std::weak_ordering::greater;
  const double x = number(a);
  const double y = number(b);
  return x < y   ? std::weak_ordering::less
         : x > y ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

/// The same; missing values after all others, in either direction.
std::weak_ordering order_with_missing(const Value& a, const Value& b, bool descending) {
  if (is_null(a) || is_null(b)) return is_null(a) <=> is_null(b);
  return descending ? order(b, a) : order(a, b);
}

/// Quantities are looked at from the largest down, names and points in time from the first on.
bool largest_first(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::count:
    case ColumnKind::duration_ns:
    case ColumnKind::bytes:
    case ColumnKind::real:
    case ColumnKind::percent:
      return true;
    default:
      return false;
  }
}

/// A row, and its cell in the key.
struct Keyed {
  Cell key;
  std::uint32_t row = 0;
};

class Before {
 public:
  Before(const RowSource& source, std::span<const ColumnSpec> columns, SortKey key)
      : source_(source), columns_(columns.size()), key_(key) {}

  [[nodiscard]] Keyed keyed(std::uint32_t row) const {
    return {source_.cell(row, key_.column), row};
  }

  bool operator()(const Keyed& a, const Keyed& b) const {
    return before(value_of(a.key), a.row, value_of(b.key), b.row);
  }
  [[nodiscard]] bool before(const Value& x, std::uint32_t a, const Value& y,
                            std::uint32_t b) const {
    const std::weak_ordering by_key = order_with_missing(x, y, key_.descending);
    return by_key != 0 ? by_key < 0 : before_by_the_rest(a, b);
  }

 private:
  [[nodiscard]] bool before_by_the_rest(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cell x = source_.cell(a, column);
      const Cell y = source_.cell(b, column);
      const std::weak_ordering order = order_with_missing(value_of(x), value_of(y), false);
      if (order != 0) return order < 0;
    }
    return before_by_type(a, b);
  }
  /// 1 and 1.0 are equal, but are not printed alike.
  [[nodiscard]] bool before_by_type(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t x = value_of(source_.cell(a, column)).index();
      const std::size_t y = value_of(source_.cell(b, column)).index();
      if (x != y) return x < y;
    }
    return false;
  }

  const RowSource& source_;
  std::size_t columns_;
  SortKey key_;
};

/// Keeps the best so far in a heap, the last of them on top.
std::vector<std::uint32_t> first_few(const Before& before, std::size_t wanted,
                                     const RowChoice& rows) {
  // Not copied into the algorithms.
  const auto less = [&before](const Keyed& a, const Keyed& b) { return before(a, b); };
  std::vector<Keyed> best;
  best.reserve(wanted + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Keyed next = before.keyed(rows[i]);
    if (best.size() == wanted && !before(next, best.front())) continue;
    best.push_back(std::move(next));
    std::ranges::push_heap(best, less);
    if (best.size() <= wanted) continue;
    std::ranges::pop_heap(best, less);
    best.pop_back();
  }
  std::ranges::sort_heap(best, less);
  std::vector<std::uint32_t> first;
  first.reserve(best.size());
  for (const Keyed& keyed : best) first.push_back(keyed.row);
  return first;
}

/// Orders all rows by an array of their keys.
std::vector<std::uint32_t> all_in_order(const RowSource& source,
                                        std::span<const ColumnSpec> columns, SortKey key,
                                        const RowChoice& rows) {
  const std::size_t column[] = {key.column};
  const Table keys = materialise(source, columns, column, rows);
  const Before before(source, columns, key);
  std::vector<std::uint32_t> places(rows.size());
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::sort(places, [&](std::uint32_t a, std::uint32_t b) {
    return before.before(keys.at(a, 0), rows[a], keys.at(b, 0), rows[b]);
  });
  for (std::uint32_t& place : places) place = rows[place];
  return places;
}

}  // namespace

Result<SortKey> SortKey::parse(std::string_view text, std::span<const ColumnSpec> columns) {
  std::optional<bool> descending;
  if (text.starts_with('-') || text.starts_with('+')) {
    descending = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.ends_with(":desc")) {
    descending = true;
    text.remove_suffix(5);
  } else if (text.ends_with(":asc")) {
    descending = false;
    text.remove_suffix(4);
  }
  const Result<std::size_t> column = find_column(columns, text);
  if (!column) return Error(column.error()).in("--sort");
  return SortKey{.column = *column,
                 .descending = descending.value_or(largest_first(columns[*column].kind))};
}

std::vector<std::uint32_t> first_in_order(const RowSource& source,
                                          std::span<const ColumnSpec> columns, SortKey key,
                                          std::size_t wanted, const RowChoice& rows) {
  if (wanted == 0) return {};
  constexpr std::size_t kFew = 8;  // one in
  if (wanted < rows.size() / kFew) return first_few(Before(source, columns, key), wanted, rows);
  std::vector<std::uint32_t> all = all_in_order(source, columns, key, rows);
  all.resize(std::min(wanted, all.size()));
  return all;
}

}  // namespace fathom
