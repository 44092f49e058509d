#include "tests/support/json_rows.h"

#include <gtest/gtest.h>

#include "render/json.h"

namespace fathom {

JsonRows::JsonRows(const Session& session, std::string_view name, const Request& request) {
  const Report* const report = find_report(name);
  EXPECT_NE(report, nullptr) << name;
  if (report == nullptr) return;
  const Result<View> view = session.run(*report, request);
  EXPECT_TRUE(view.ok()) << name << ": " << (view.ok() ? "" : view.error().message);
  if (!view.ok()) return;
  simdjson::dom::element document;
  EXPECT_EQ(parser_.parse(render_json(*view)).get(document), simdjson::SUCCESS) << name;
  EXPECT_EQ(document["rows"].get(rows_), simdjson::SUCCESS) << name;
  empty_ = rows_.size() == 0;
}

std::optional<std::int64_t> integer_of(JsonRow row, std::string_view column) {
  std::int64_t value = 0;
  if (row[column].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::int64_t time_of(JsonRow row, std::string_view column) {
  const std::optional<std::int64_t> value = integer_of(row, column);
  EXPECT_TRUE(value.has_value()) << column << " of " << simdjson::minify(row);
  return value.value_or(0);
}

std::string text_of(JsonRow row, std::string_view column) {
  std::string_view value;
  return row[column].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

Request grouped_by(std::string_view grouping) {
  Request request;
  request.options.group_by = grouping;
  return request;
}

}  // namespace fathom
