// Writes JSON by hand: one row per line, so that it is fit for machines, diff and grep alike.
#include "render/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "render/utf8.h"

namespace fathom {
namespace {

constexpr std::string_view kSchema = "fathom.table/1";

void append_columns(std::string& out, const View& view, const std::string& inner) {
  for (std::size_t i = 0; i < view.columns().size(); ++i) {
    const ColumnSpec& column = view.columns()[i];
    out += i == 0 ? "\n" : ",\n";
    out += inner + "  {\"name\": " + json_string(column.name) +
           ", \"kind\": " + json_string(kind_name(column.kind)) +
           ", \"unit\": " + json_string(column.unit) + ", \"doc\": " + json_string(column.doc) +
           "}";
  }
  out += view.columns().empty() ? "" : "\n" + inner;
}

void append_rows(std::string& out, const View& view, const std::string& inner) {
  std::vector<std::string> keys;
  for (const ColumnSpec& column : view.columns()) keys.push_back(json_string(column.name) + ": ");
  for (std::size_t r = 0; r < view.table.rows(); ++r) {
    out += r == 0 ? "\n" : ",\n";
    out += inner;
    out += "  {";
    for (std::size_t c = 0; c < keys.size(); ++c) {
      if (c != 0) out += ", ";
      out += keys[c];
      out += json_value(view.table.at(r, c));
    }
    out += '}';
  }
  out += view.table.empty() ? "" : "\n" + inner;
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

std::string json_string(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!c.valid) {
      out += "\\ufffd";
    } else if (c.code == '"' || c.code == '\\') {
      out += '\\';
      out += static_cast<char>(c.code);
    } else if (c.code < 0x20 || c.code == 0x7F) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c.code));
      out += c.code == '\n' ? "\\n" : c.code == '\t' ? "\\t" : std::string_view(escape.data());
    } else {
      out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  out += '"';
  return out;
}

std::string json_value(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string_view>(&value)) return json_string(*text);
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !std::isfinite(*real)) return "null";
  std::array<char, 40> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), *real);
  return std::string(text.data(), written.ptr);
}

std::string render_json(const View& view, std::string_view indent) {
  const std::string outer(indent);
  const std::string inner = outer + "  ";
  std::string out = outer + "{\n";
  out += inner + "\"schema\": " + json_string(kSchema) + ",\n";
  out += inner + "\"report\": " + json_string(view.report->id) + ",\n";
  out += inner + "\"input\": " + json_string(view.input) + ",\n";
  out += inner + "\"columns\": [";
  append_columns(out, view, inner);
  out += "],\n" + inner + "\"rows\": [";
  append_rows(out, view, inner);
  out += "],\n" + inner + "\"rows_total\": " + std::to_string(view.rows_total) + ",\n" + inner +
         "\"notes\": [";
  for (std::size_t i = 0; i < view.notes.size(); ++i) {
    out += (i == 0 ? "" : ", ") + json_string(view.notes[i]);
  }
  out += "]\n" + outer + "}";
  return out;
}

std::string json_inputs_begin(const Report& report) {
  return "{\n  \"schema\": " + json_string(kSchema) + ",\n  \"report\": " + json_string(report.id) +
         ",\n  \"inputs\": [";
}

std::string json_inputs_end() { return "\n  ]\n}\n"; }

}  // namespace fathom
