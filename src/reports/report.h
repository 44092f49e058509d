// A report: a table that describes itself, and thereby exists in every output, in the API and in
// the docs.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "analysis/context.h"
#include "base/result.h"
#include "reports/need.h"
#include "reports/option.h"
#include "reports/rows.h"

namespace fathom {

struct Report {
  std::string_view id;                         ///< "ops"; also the subcommand.
  std::string_view title;                      ///< One line.
  std::string_view doc;                        ///< A paragraph: what a row is, what sums to what.
  std::span<const std::string_view> group_by;  ///< Choices; the first is the default; may be empty.
  std::string_view sort;  ///< Column to sort by when --sort is not given, "-name" for descending,
                          ///< or "" for the order computed.
  std::string_view example;                    ///< A command line worth copying.
  std::span<const ReportOption> options = {};  ///< Those that it has and others have not.
  /// What it cannot do without: where one is missing in the recording, it abstains. Empty only
  /// where every recording has rows of it (need_test.cc names these).
  std::span<const Need> needs = {};
  /// What it means that there are no rows although what it needs was recorded and nothing narrows
  /// the selection; empty where its own notes say so.
  std::string_view none = {};
  /// Columns from the most important on: on a narrow terminal, text leaves out those that are not
  /// named here, then the last of these. Empty: the last columns go first.
  std::span<const std::string_view> importance = {};
  /// True: it is about the whole recording, so no steps, device or window can be chosen.
  bool whole = false;

  // Set by report_of().
  std::span<const ColumnSpec> columns = {};
  Result<Computed> (*compute)(const Context& context, const OptionValues& own) = nullptr;
};

namespace detail {

template <const auto& kColumns>
constexpr auto specs_of() {
  std::array<ColumnSpec, std::size(kColumns)> specs{};
  for (std::size_t i = 0; i < specs.size(); ++i) specs[i] = kColumns[i].spec;
  return specs;
}
template <const auto& kColumns>
inline constexpr auto kSpecs = specs_of<kColumns>();

constexpr bool names_differ(std::span<const ColumnSpec> specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (specs[i].name == specs[j].name) return false;
    }
  }
  return true;
}

/// The rows that a report computed, read by its columns.
template <const auto& kColumns, typename RowsType>
class ColumnReader final : public RowSource {
 public:
  explicit ColumnReader(RowsType rows) : rows_(std::move(rows)) {}
  [[nodiscard]] std::size_t rows() const override { return rows_.rows.size(); }
  [[nodiscard]] Cell cell(std::size_t row, std::size_t column) const override {
    return kColumns[column].get(rows_.rows[row], rows_.shared);
  }
  [[nodiscard]] Table brief() const {
    Table table(std::vector<ColumnSpec>(kSpecs<kColumns>.begin(), kSpecs<kColumns>.end()));
    for (const auto& row : rows_.brief) {
      for (std::size_t column = 0; column < std::size(kColumns); ++column)
        table.append(column, kColumns[column].get(row, rows_.shared));
    }
    return table;
  }

 private:
  RowsType rows_;
};

template <typename T>
struct ValueOf;
template <typename T>
struct ValueOf<Result<T>> {
  using type = T;
};

/// Reports without options of their own need not take them.
template <auto kCompute>
auto compute_rows(const Context& context, const OptionValues& own) {
  if constexpr (std::is_invocable_v<decltype(kCompute), const Context&>) {
    return kCompute(context);
  } else {
    return kCompute(context, own);
  }
}

template <const auto& kColumns, auto kCompute>
Result<Computed> compute_table(const Context& context, const OptionValues& own) {
  auto rows = compute_rows<kCompute>(context, own);
  using RowsType = typename ValueOf<decltype(rows)>::type;
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(kColumns[0])>, typename RowsType::Column>,
      "the columns read rows of the type that is computed");
  static_assert(names_differ(kSpecs<kColumns>));
  if (!rows) return std::move(rows).error();
  Computed computed;
  computed.notes = std::move((*rows).notes);
  auto reader = std::make_unique<const ColumnReader<kColumns, RowsType>>(std::move(*rows));
  computed.brief = reader->brief();
  computed.source = std::move(reader);
  return computed;
}

}  // namespace detail

/// `report` with its columns, an array of ReportRows<…>::Column, and with the function that
/// computes their rows: Result<ReportRows<…>>(const Context&), or (const Context&, const
/// OptionValues&).
template <const auto& kColumns, auto kCompute>
Report report_of(Report report) {
  report.columns = detail::kSpecs<kColumns>;
  report.compute = detail::compute_table<kColumns, kCompute>;
  return report;
}

/// Computes the report; or, where something that it needs is missing in the recording, no rows and
/// a note that names them.
Result<Computed> compute_report(const Report& report, const Context& context,
                                const OptionValues& own = {});

/// Every report, in the order of --help.
std::span<const Report> all_reports();
/// The report of that id, or nullptr.
const Report* find_report(std::string_view id);

}  // namespace fathom
