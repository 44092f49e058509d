// Rows of the overview: all of them for machines, the ones that say something for people.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace fathom {

struct OverviewRow {
  std::string section;
  std::string metric;
  Cell value;
  std::string_view unit;
  std::optional<double> percent = {};
  std::optional<std::string> note = {};
};
using Overview = ReportRows<OverviewRow>;

/// Where a row of the overview is shown.
enum class Shown : std::uint8_t {
  always,
  in_full,   ///< JSON, CSV, --wide.
  in_brief,  ///< Other text.
};

/// Collects the rows of one section after the other.
class OverviewRows {
 public:
  explicit OverviewRows(Overview& overview) : overview_(overview) {}
  /// `in_brief` is what people see instead of the name, where that can say more.
  void section(std::string name, std::string in_brief = {}) {
    section_ = std::move(name);
    brief_section_ = in_brief.empty() ? section_ : std::move(in_brief);
  }
  /// What is added from here on is shown there.
  void show(Shown shown) { shown_ = shown; }
  /// What is added from here on is left out elsewhere, whatever show() says; `always`: nowhere.
  void keep_to(Shown part) { part_ = part; }
  void add(std::string_view metric, Cell value, std::string_view unit,
           std::optional<double> percent = {}, std::optional<std::string> note = {}) {
    OverviewRow row{section_, std::string(metric), std::move(value), unit,
                    percent,  std::move(note)};
    if (shown_ != Shown::in_full && part_ != Shown::in_full) {
      overview_.brief.push_back(row);
      overview_.brief.back().section = brief_section_;
    }
    if (shown_ != Shown::in_brief && part_ != Shown::in_brief)
      overview_.rows.push_back(std::move(row));
  }
  void add_ns(std::string_view metric, double ns) { add(metric, cell_of(std::llround(ns)), "ns"); }
  void add_count(std::string_view metric, std::size_t count, std::optional<std::string> note = {}) {
    add(metric, cell_of(count), "count", {}, std::move(note));
  }
  /// A percentage, or nothing when it is not known.
  void add_percent(std::string_view metric, const std::optional<double>& percent,
                   std::optional<std::string> note = {}) {
    if (percent) add(metric, cell_of(*percent), "percent", {}, std::move(note));
  }

 private:
  Overview& overview_;
  std::string section_;
  std::string brief_section_;
  Shown shown_ = Shown::always;
  Shown part_ = Shown::always;
};

}  // namespace fathom
