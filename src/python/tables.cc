// Tables and their columns, for Python, numpy and everyone who speaks Arrow.
#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/utf8.h"
#include "engine/query/columns.h"
#include "python/arrow.h"
#include "python/bind.h"
#include "python/errors.h"
#include "render/column_arrays.h"
#include "render/csv.h"
#include "render/json.h"
#include "render/table_html.h"
#include "render/text.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

/// DLPack's number of the device that memory of the host belongs to.
constexpr int kCpu = 1;

/// One column; keeps the table's data alive.
struct Column {
  TablePtr data;
  std::size_t index = 0;

  [[nodiscard]] const fathom::Table& table() const { return data->view.table; }
  [[nodiscard]] const ColumnSpec& spec() const { return table().columns()[index]; }
  [[nodiscard]] const ColumnData& values() const { return table().data(index); }
  [[nodiscard]] std::size_t rows() const { return table().rows(); }
  [[nodiscard]] Value at(std::size_t row) const { return table().at(row, index); }
};

/// One piece of memory as the buffer protocol wants it.
struct Buffer {
  const void* data = nullptr;
  const char* format = nullptr;
  Py_ssize_t item = 0;
};

/// Unset where the values do not lie in memory as numbers.
struct BufferOf {
  Buffer operator()(const std::vector<std::int64_t>& values) const {
    return {values.data(), "q", sizeof(std::int64_t)};
  }
  Buffer operator()(const std::vector<double>& values) const {
    return {values.data(), "d", sizeof(double)};
  }
  Buffer operator()(const ColumnData::Flags& values) const { return {values.bytes.data(), "?", 1}; }
  Buffer operator()(const ColumnData::Texts& /*values*/) const { return {}; }
  Buffer operator()(const ColumnData::Mixed& /*values*/) const { return {}; }
};

/// Why the column has no plain buffer; empty where it has one. Doubles say NaN where there is none.
const char* not_plain(const Column& column) {
  const ColumnData& data = column.values();
  if (is_text(column.spec().kind)) {
    return "a column of text has no buffer of numbers; use Arrow or to_list()";
  }
  if (data.nulls != 0 && !std::holds_alternative<std::vector<double>>(data.values)) {
    return "values are missing in this column, which a buffer cannot say; use Arrow, to_list(), or "
           "numpy.asarray(), which makes floats with NaN";
  }
  return nullptr;
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  const Column& column = *nb::inst_ptr<Column>(object);
  const char* reason = not_plain(column);
  if (reason == nullptr && (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE)
    reason = "the columns of a table are read-only";
  if (reason != nullptr) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
  }
  const Buffer buffer = std::visit(BufferOf(), column.values().values);
  // Both are of one length; the buffer's holder holds the column, and with it the length.
  auto* shape = new Py_ssize_t[2]{static_cast<Py_ssize_t>(column.rows()), buffer.item};
  *view = {};
  view->buf = const_cast<void*>(buffer.data);
  view->obj = Py_NewRef(object);
  view->len = shape[0] * buffer.item;
  view->itemsize = buffer.item;
  view->readonly = 1;
  view->ndim = 1;
  view->format =
      (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(buffer.format) : nullptr;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape + 1 : nullptr;
  view->internal = shape;
  return 0;
}

void release_buffer(PyObject* /*object*/, Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
}

template <typename T>
nb::object dlpack(const T* data, const Column& column, const nb::kwargs& options) {
  const auto array = nb::ndarray<nb::array_api, nb::ro, const T, nb::ndim<1>, nb::device::cpu>(
      data, {column.rows()}, nb::cast(column));
  return nb::cast(array).attr("__dlpack__")(**options);
}

nb::object column_dlpack(const Column& column, const nb::kwargs& options) {
  const char* const reason = not_plain(column);
  if (reason != nullptr) throw nb::buffer_error(reason);
  const ColumnData::Values& values = column.values().values;
  if (const auto* reals = std::get_if<std::vector<double>>(&values))
    return dlpack(reals->data(), column, options);
  if (const auto* flags = std::get_if<ColumnData::Flags>(&values))
    return dlpack(reinterpret_cast<const bool*>(flags->bytes.data()), column, options);
  return dlpack(std::get<std::vector<std::int64_t>>(values).data(), column, options);
}

nb::list list_of(const Column& column) {
  nb::list list;
  for (std::size_t row = 0; row < column.rows(); ++row) list.append(to_python(column.at(row)));
  return list;
}

/// What numpy asks for where there is no buffer: floats with NaN, else objects. Who calls it for a
/// column that has one gets that.
nb::object column_numpy(const nb::handle& self, const nb::object& dtype, const nb::object& copy) {
  const auto& column = nb::cast<const Column&>(self);
  const nb::module_ numpy = nb::module_::import_("numpy");
  const char* const reason = not_plain(column);
  if (reason == nullptr) {
    const nb::object view = nb::steal(PyMemoryView_FromObject(self.ptr()));
    return numpy.attr("asarray")(view, dtype);
  }
  if (copy.is(nb::bool_(false))) throw nb::value_error(reason);
  const bool integers = std::holds_alternative<std::vector<std::int64_t>>(column.values().values);
  const nb::object type = !dtype.is_none() ? dtype : nb::str(integers ? "float64" : "object");
  return numpy.attr("array")(list_of(column), type);
}

nb::object value_at(const Column& column, Py_ssize_t row) {
  const auto rows = static_cast<Py_ssize_t>(column.rows());
  if (row < 0) row += rows;
  if (row < 0 || row >= rows) throw nb::index_error("no such row");
  return to_python(column.at(static_cast<std::size_t>(row)));
}

Column column_named(const Table& table, std::string_view name) {
  Result<std::size_t> found = find_column(table.values().columns(), name);
  return {table.data, value_or_raise(std::move(found))};
}

nb::list row_dicts(const Table& table) {
  const fathom::Table& values = table.values();
  std::vector<nb::str> keys;
  keys.reserve(values.columns().size());
  for (const ColumnSpec& column : values.columns())
    keys.emplace_back(column.name.data(), column.name.size());
  nb::list rows;
  for (std::size_t row = 0; row < values.rows(); ++row) {
    nb::dict dict;
    for (std::size_t c = 0; c < keys.size(); ++c) dict[keys[c]] = to_python(values.at(row, c));
    rows.append(dict);
  }
  return rows;
}

bool has_sections(const View& view) { return view.columns().front().name == "section"; }

std::string text_of(const View& view, bool wide) {
  return render_text(view, style_for(1, ColourChoice::never, wide));
}

/// The rows from `begin` on of a table, at most `limit` of them, without the columns before
/// `first`.
View cut(const View& frame, const fathom::Table& rows, std::size_t begin, std::size_t end,
         std::size_t limit, std::size_t first) {
  View shown = frame;
  if (limit != 0 && rows.columns()[first].name != "section") end = std::min(end, begin + limit);
  shown.table = rows.slice(begin, end, first);
  return shown;
}

std::string text_of(const TableData& table, std::size_t limit, bool wide) {
  const fathom::Table& rows = table.view.table;
  std::string text;
  for (const TableData::Part& part : table.parts) {
    text += text.empty() ? "" : "\n";
    text += text_of(cut(part.frame, rows, part.begin, part.end, limit, kWhoseColumns), wide);
  }
  if (!table.parts.empty()) return text;
  const bool whole = limit == 0 || has_sections(table.view) || rows.rows() <= limit;
  return text_of(whole ? table.view : cut(table.view, rows, 0, rows.rows(), limit, 0), wide);
}

const PyType_Slot kColumnSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

void bind_column(nb::module_& module) {
  nb::class_<Column>(module, "Column", nb::type_slots(kColumnSlots),
                     "One column of a table. numpy.asarray() takes numbers without a copy.")
      .def_prop_ro("name", [](const Column& column) { return column.spec().name; })
      .def_prop_ro("kind", [](const Column& column) { return kind_name(column.spec().kind); })
      .def_prop_ro("unit", [](const Column& column) { return column.spec().unit; })
      .def_prop_ro("doc", [](const Column& column) { return column.spec().doc; })
      .def_prop_ro(
          "null_count", [](const Column& column) { return column.values().nulls; },
          "Rows where nothing was recorded or it does not apply.")
      .def("to_list", list_of, nb::sig("def to_list(self) -> list[typing.Any]"),
           "The values; None where there is none.")
      .def("__len__", &Column::rows)
      .def("__getitem__", value_at, nb::arg("row"),
           nb::sig("def __getitem__(self, row: int) -> typing.Any"))
      .def(
          "__iter__", [](const Column& column) { return nb::iter(list_of(column)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"))
      .def("__array__", column_numpy, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "typing.Any"))
      .def("__dlpack__", column_dlpack,
           nb::sig("def __dlpack__(self, **options: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__", [](const Column& /*column*/) { return nb::make_tuple(kCpu, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__arrow_c_schema__",
           [](const Column& column) { return column_schema(column.data, column.index); })
      .def(
          "__arrow_c_array__",
          [](const Column& column, const nb::object& /*requested*/) {
            return column_array(column.data, column.index);
          },
          nb::arg("requested_schema") = nb::none())
      .def("__repr__", [](const Column& column) {
        return "<fathom column " + std::string(column.spec().name) + ": " +
               std::to_string(column.rows()) + " × " + std::string(kind_name(column.spec().kind)) +
               ">";
      });
}

void bind_table(nb::module_& module) {
  nb::class_<Table>(module, "Table", "What a report answered. Immutable; outlives its session.")
      .def_prop_ro("report", [](const Table& table) { return table.data->view.report->id; })
      .def_prop_ro("input", [](const Table& table) { return valid_utf8(table.data->view.input); })
      .def_prop_ro(
          "columns", [](const Table& table) { return table.values().columns(); },
          "What each column is, in order.")
      .def_prop_ro(
          "rows_total", [](const Table& table) { return table.data->view.rows_total; },
          "Rows before the limit, after the filters.")
      .def_prop_ro(
          "notes", [](const Table& table) { return table.data->view.notes; },
          "Sentences: what was assumed, what abstains and why.")
      .def("rows", row_dicts, nb::sig("def rows(self) -> list[dict[str, typing.Any]]"),
           "A dict per row, equal to the rows of `fathom … --json`.")
      .def("__len__", &Table::rows)
      .def(
          "__iter__", [](const Table& table) { return nb::iter(row_dicts(table)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[dict[str, typing.Any]]"))
      .def("__getitem__", column_named, nb::arg("column"),
           "The column of that name, also without its unit.")
      .def(
          "to_json", [](const Table& table) { return render_json(table.data->view); },
          "Schema fathom.table/1, as `fathom … --json` prints it.")
      .def(
          "to_csv",
          [](const Table& table) {
            return csv_header(table.data->view, false) + csv_rows(table.data->view, false);
          },
          "As `fathom … --csv` prints it.")
      .def(
          "to_text",
          [](const Table& table, std::size_t limit, bool wide) {
            return text_of(*table.data, limit, wide);
          },
          nb::arg("limit") = 30, nb::arg("wide") = false,
          "As a terminal shows it; limit=0 for all rows.")
      .def("__str__", [](const Table& table) { return text_of(*table.data, 30, false); })
      .def(
          "to_html",
          [](const Table& table, std::size_t limit) {
            return render_table_html(table.data->view, limit == 0 ? table.rows() : limit);
          },
          nb::arg("limit") = 30, "As a notebook shows it; limit=0 for all rows.")
      .def("_repr_html_",
           [](const Table& table) { return render_table_html(table.data->view, 30); })
      .def("__repr__",
           [](const Table& table) {
             return "<fathom table " + std::string(table.data->view.report->id) + ": " +
                    std::to_string(table.rows()) + " rows × " +
                    std::to_string(table.values().columns().size()) + " columns>";
           })
      .def("__arrow_c_schema__", [](const Table& table) { return table_schema(table.data); })
      .def(
          "__arrow_c_array__",
          [](const Table& table, const nb::object& /*requested*/) {
            return table_array(table.data);
          },
          nb::arg("requested_schema") = nb::none())
      .def(
          "__arrow_c_stream__",
          [](const Table& table, const nb::object& /*requested*/) {
            return table_stream(table.data);
          },
          nb::arg("requested_schema") = nb::none());
}

}  // namespace

nb::object to_python(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return nb::int_(*integer);
  if (const auto* text = std::get_if<std::string_view>(&value)) return nb::cast(valid_utf8(*text));
  if (const auto* real = std::get_if<double>(&value)) return nb::float_(*real);
  return nb::none();
}

void bind_tables(nb::module_& module) {
  bind_column(module);
  bind_table(module);
}

}  // namespace fathom::python
