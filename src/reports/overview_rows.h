// Rows of the overview: all of them for machines, the ones that say something for people.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {

/// Where a row of the overview is shown.
enum class Shown : std::uint8_t {
  always,
  in_full,   ///< JSON, CSV, --wide.
  in_brief,  ///< Other text.
};

/// Collects the rows of one section after the other.
class OverviewRows {
 public:
  explicit OverviewRows(Table& table) : table_(table) {}
  /// `in_brief` is what people see instead of the name, where that can say more.
  void section(std::string name, std::string in_brief = {}) {
    section_ = std::move(name);
    brief_section_ = in_brief.empty() ? section_ : std::move(in_brief);
  }
  /// What is added from here on is shown there.
  void show(Shown shown) { shown_ = shown; }
  /// What is added from here on is left out elsewhere, whatever show() says; `always`: nowhere.
  void keep_to(Shown part) { part_ = part; }
  void add(std::string_view metric, Value value, std::string_view unit, Value percent = {},
           Value note = {}) {
    std::vector<Value> row = {text_value(section_), text_value(metric), std::move(value),
                              text_value(unit),     std::move(percent), std::move(note)};
    if (shown_ != Shown::in_full && part_ != Shown::in_full) {
      table_.brief.push_back(row);
      table_.brief.back().front() = text_value(brief_section_);
    }
    if (shown_ != Shown::in_brief && part_ != Shown::in_brief)
      table_.rows.push_back(std::move(row));
  }
  void add_ns(std::string_view metric, double ns) {
    add(metric, int_value(std::llround(ns)), "ns");
  }
  void add_count(std::string_view metric, std::size_t count, Value note = {}) {
    add(metric, int_value(count), "count", {}, std::move(note));
  }
  /// A percentage, or nothing when it is not known.
  void add_percent(std::string_view metric, const std::optional<double>& percent, Value note = {}) {
    if (percent) add(metric, *percent, "percent", {}, std::move(note));
  }

 private:
  Table& table_;
  std::string section_;
  std::string brief_section_;
  Shown shown_ = Shown::always;
  Shown part_ = Shown::always;
};

}  // namespace fathom
