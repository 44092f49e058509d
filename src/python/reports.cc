// Binds the reports and their columns.
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "engine/session.h"
#include "python/bind.h"
#include "render/json.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

std::vector<std::string_view> list_of(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

}  // namespace

void bind_reports(nb::module_& module) {
  nb::class_<ColumnSpec>(module, "ColumnSpec", "A column as its report declares it.")
      .def_prop_ro(
          "name", [](const ColumnSpec& spec) { return spec.name; },
          "snake_case with the unit as suffix.")
      .def_prop_ro(
          "kind", [](const ColumnSpec& spec) { return kind_name(spec.kind); },
          "text, name, integer, count, duration_ns, time_ns, bytes, real, percent or flag.")
      .def_prop_ro(
          "unit", [](const ColumnSpec& spec) { return spec.unit; },
          "ns, bytes, percent, GB/s …, or empty.")
      .def_prop_ro(
          "doc", [](const ColumnSpec& spec) { return spec.doc; }, "One sentence: what it is.")
      .def("__repr__", [](const ColumnSpec& spec) {
        return "<fathom column " + std::string(spec.name) + ": " +
               std::string(kind_name(spec.kind)) + ">";
      });
  nb::class_<Report>(module, "Report", "A table that can be asked for.")
      .def_prop_ro(
          "id", [](const Report& report) { return report.id; }, "What session.report() takes.")
      .def_prop_ro(
          "title", [](const Report& report) { return report.title; }, "One line.")
      .def_prop_ro(
          "doc", [](const Report& report) { return report.doc; },
          "A paragraph: what a row is, what sums to what.")
      .def_prop_ro(
          "columns",
          [](const Report& report) {
            return std::vector<ColumnSpec>(report.columns.begin(), report.columns.end());
          },
          "All of them, also those that text leaves out.")
      .def_prop_ro(
          "group_by", [](const Report& report) { return list_of(report.group_by); },
          "Choices of group_by, the default first; may be empty.")
      .def_prop_ro(
          "options",
          [](const Report& report) {
            std::vector<std::string_view> names;
            for (const ReportOption& option : report.options) names.push_back(option.name);
            return names;
          },
          "Further arguments of session.report() that this report has: torch, metric, peaks …")
      .def("__repr__", [](const Report& report) {
        return "<fathom report " + std::string(report.id) + ": " + std::string(report.title) + ">";
      });
  module.def(
      "reports",
      [] {
        const std::span<const Report> all = all_reports();
        return std::vector<Report>(all.begin(), all.end());
      },
      "Every report, in the order of `fathom --help`.");
}

}  // namespace fathom::python
