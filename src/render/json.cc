// Writes tables as JSON: one row per line, so that it is fit for machines, diff and grep alike.
#include "render/json.h"

#include <array>

#include "base/json_writer.h"

namespace fathom {
namespace {

constexpr std::string_view kSchema = "fathom.table/1";

void write_value(JsonWriter& json, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    json.boolean(*flag);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    json.integer(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    json.real(*real);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    json.text(*text);
  } else {
    json.null();
  }
}

void write_columns(JsonWriter& json, const View& view) {
  json.key("columns").array();
  for (const ColumnSpec& column : view.columns()) {
    json.object(kJsonInline).member("name", column.name).member("kind", kind_name(column.kind));
    json.member("unit", column.unit).member("doc", column.doc).end();
  }
  json.end();
}

void write_rows(JsonWriter& json, const View& view) {
  json.key("rows").array();
  for (std::size_t r = 0; r < view.table.rows(); ++r) {
    json.object(kJsonInline);
    for (std::size_t c = 0; c < view.columns().size(); ++c)
      write_value(json.key(view.columns()[c].name), view.table.at(r, c));
    json.end();
  }
  json.end();
}

}  // namespace

std::string_view kind_name(ColumnKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {"text",        "name",    "integer", "count",
                                                       "duration_ns", "time_ns", "bytes",   "real",
                                                       "percent",     "flag"};
  static_assert(kNames[static_cast<std::size_t>(ColumnKind::flag)] == "flag",
                "one name for each ColumnKind");
  return kNames[static_cast<std::size_t>(kind)];
}

std::string json_value(const Value& value) {
  std::string out;
  JsonWriter json(out);
  write_value(json, value);
  return out;
}

std::string render_json(const View& view, std::string_view indent) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", kSchema).member("report", view.report->id);
  json.member("input", view.input);
  write_columns(json, view);
  write_rows(json, view);
  json.member("rows_total", view.rows_total);
  json.key("notes").array(kJsonInline);
  for (const std::string& note : view.notes) json.text(note);
  json.end().end();
  return out;
}

std::string json_inputs_begin(const Report& report) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().member("schema", kSchema).member("report", report.id).key("inputs").array();
  return out;
}

std::string json_inputs_end() { return "\n  ]\n}\n"; }

}  // namespace fathom
