// Which tables there are, by their declarations.
#include "base/json_writer.h"
#include "engine/session.h"
#include "render/json.h"
#include "server/route.h"

namespace fathom::server {
namespace {

std::string_view type_name(OptionType type) {
  switch (type) {
    case OptionType::flag:
      return "flag";
    case OptionType::choice:
      return "choice";
    case OptionType::rate:
      return "rate";
    case OptionType::device:
      return "device";
    case OptionType::sources:
      break;
  }
  return "sources";
}

void write_columns(JsonWriter& json, const Report& report) {
  json.key("columns").array();
  for (const ColumnSpec& column : report.columns) {
    json.object().member("name", column.name).member("kind", kind_name(column.kind));
    json.member("unit", column.unit).member("doc", column.doc).member("wide", column.wide);
    json.member("group", column.group).end();
  }
  json.end();
}

void write_options(JsonWriter& json, const Report& report) {
  json.key("options").array();
  for (const ReportOption& option : report.options) {
    json.object().member("name", option.name).member("type", type_name(option.type));
    json.member("doc", option.doc).key("choices").texts(option.choices).end();
  }
  json.end();
}

Result<Response> answer_reports(const Call& /*call*/) {
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().key("reports").array();
  for (const Report& report : all_reports()) {
    json.object().member("id", report.id).member("title", report.title).member("doc", report.doc);
    json.member("sort", report.sort).member("example", report.example);
    json.member("whole", report.whole).key("group_by").texts(report.group_by);
    json.key("importance").texts(report.importance);
    write_columns(json, report);
    write_options(json, report);
    json.end();
  }
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route reports() { return {.path = "api/reports", .answer = answer_reports, .needs_input = false}; }

}  // namespace fathom::server
