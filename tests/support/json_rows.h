// The rows of a report as its JSON has them, so that no report can lose what analyses keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "engine/session.h"

namespace fathom {

using JsonRow = simdjson::dom::element;

/// What a report answers; a report that fails fails the test. Rows point into it.
class JsonRows {
 public:
  JsonRows(const Session& session, std::string_view report, const Request& request = {});

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] auto begin() const { return rows_.begin(); }
  [[nodiscard]] auto end() const { return rows_.end(); }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::array rows_ = parser_.parse(std::string_view("[]")).get_array().value_unsafe();
  bool empty_ = true;
};

/// Unset where the column is null.
std::optional<std::int64_t> integer_of(JsonRow row, std::string_view column);
/// Null fails the test.
std::int64_t time_of(JsonRow row, std::string_view column);
/// "" where the column is null.
std::string text_of(JsonRow row, std::string_view column);

Request grouped_by(std::string_view grouping);

}  // namespace fathom
