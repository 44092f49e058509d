// Exports tables and columns through Arrow's C data interface.
#include "python/arrow.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "python/arrow_abi.h"
#include "render/column_arrays.h"
#include "render/json.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

constexpr const char* kStruct = "+s";

/// It follows from the kind alone, so it is the same for every recording.
const char* format_of(ColumnKind kind) {
  if (is_text(kind)) return "U";
  if (is_real(kind)) return "g";
  return kind == ColumnKind::flag ? "b" : "l";
}

/// Pairs as the specification packs them: 32-bit counts and lengths in the machine's own order.
std::string metadata_of(const ColumnSpec& spec) {
  std::string out;
  const auto number = [&out](std::size_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    std::array<char, sizeof(narrow)> bytes{};
    std::memcpy(bytes.data(), &narrow, sizeof(narrow));
    out.append(bytes.data(), bytes.size());
  };
  const auto pair = [&](std::string_view key, std::string_view value) {
    number(key.size());
    out += key;
    number(value.size());
    out += value;
  };
  number(3);
  pair("kind", kind_name(spec.kind));
  pair("unit", spec.unit);
  pair("doc", spec.doc);
  return out;
}

/// What an exported schema owns.
struct SchemaParts {
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

void release_schema(ArrowSchema* schema) {
  for (std::int64_t i = 0; i < schema->n_children; ++i) {
    // A consumer may have moved a child away; then its release is null.
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  }
  delete static_cast<SchemaParts*>(schema->private_data);
  schema->release = nullptr;
}

void export_column_schema(const ColumnSpec& column, ArrowSchema& out) {
  auto* parts = new SchemaParts{.name = std::string(column.name),
                                .metadata = metadata_of(column),
                                .children = {},
                                .pointers = {}};
  out = {.format = format_of(column.kind),
         .name = parts->name.c_str(),
         .metadata = parts->metadata.c_str(),
         .flags = kArrowNullable,
         .n_children = 0,
         .children = nullptr,
         .dictionary = nullptr,
         .release = release_schema,
         .private_data = parts};
}

void export_table_schema(const TableData& table, ArrowSchema& out) {
  auto* parts = new SchemaParts();
  const std::vector<ColumnSpec>& columns = table.view.columns();
  parts->children.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    export_column_schema(columns[i], parts->children[i]);
    parts->pointers.push_back(&parts->children[i]);
  }
  out = {.format = kStruct,
         .name = parts->name.c_str(),
         .metadata = nullptr,
         .flags = 0,
         .n_children = static_cast<std::int64_t>(parts->children.size()),
         .children = parts->pointers.data(),
         .dictionary = nullptr,
         .release = release_schema,
         .private_data = parts};
}

/// What an exported array owns: a share of the table, the lists of pointers into it, and what does
/// not lie in the table as Arrow wants it.
struct ArrayParts {
  TablePtr table;
  TextArray text;
  std::vector<std::uint8_t> flags;
  std::array<const void*, 3> buffers{};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void release_array(ArrowArray* array) {
  for (std::int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  delete static_cast<ArrayParts*>(array->private_data);
  array->release = nullptr;
}

/// Sets the buffers after the bits of validity; returns how many there are in all.
std::int64_t set_buffers(const fathom::Table& table, std::size_t column, ArrayParts& parts) {
  const ColumnData::Values& values = table.data(column).values;
  if (const auto* const integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    parts.buffers[1] = integers->data();
    return 2;
  }
  if (const auto* const reals = std::get_if<std::vector<double>>(&values)) {
    parts.buffers[1] = reals->data();
    return 2;
  }
  if (const auto* const flags = std::get_if<ColumnData::Flags>(&values)) {
    parts.flags = flag_bits(*flags);
    parts.buffers[1] = parts.flags.data();
    return 2;
  }
  parts.text = text_array(table, column);
  parts.buffers[1] = parts.text.offsets.data();
  parts.buffers[2] = parts.text.bytes.data();
  return 3;
}

std::unique_ptr<ArrayParts> parts_of(const TablePtr& table) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  return parts;
}

void export_column_array(const TablePtr& table, std::size_t index, ArrowArray& out) {
  const ColumnData& column = table->view.table.data(index);
  auto parts = parts_of(table);
  if (!column.valid.empty()) parts->buffers[0] = column.valid.data();
  const std::int64_t buffers = set_buffers(table->view.table, index, *parts);
  out = {.length = static_cast<std::int64_t>(column.rows),
         .null_count = static_cast<std::int64_t>(column.nulls),
         .offset = 0,
         .n_buffers = buffers,
         .n_children = 0,
         .buffers = parts->buffers.data(),
         .children = nullptr,
         .dictionary = nullptr,
         .release = release_array,
         .private_data = parts.release()};
}

void export_table_array(const TablePtr& table, ArrowArray& out) {
  auto parts = parts_of(table);
  parts->children.resize(table->view.columns().size());
  for (std::size_t i = 0; i < parts->children.size(); ++i) {
    export_column_array(table, i, parts->children[i]);
    parts->pointers.push_back(&parts->children[i]);
  }
  out = {.length = static_cast<std::int64_t>(table->view.table.rows()),
         .null_count = 0,
         .offset = 0,
         .n_buffers = 1,  // the bits of a struct's own validity, of which there are none
         .n_children = static_cast<std::int64_t>(parts->children.size()),
         .buffers = parts->buffers.data(),
         .children = parts->pointers.data(),
         .dictionary = nullptr,
         .release = release_array,
         .private_data = parts.release()};
}

struct StreamParts {
  TablePtr table;
  bool given = false;
};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  export_table_schema(*static_cast<StreamParts*>(stream->private_data)->table, *out);
  return 0;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* parts = static_cast<StreamParts*>(stream->private_data);
  *out = {};  // released: the end of the stream
  if (!parts->given) export_table_array(parts->table, *out);
  parts->given = true;
  return 0;
}

const char* stream_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

/// A capsule that owns `thing`, and releases it unless whoever took it already did.
template <typename Thing>
nb::object capsule_of(std::unique_ptr<Thing> thing, const char* name) {
  PyObject* capsule = PyCapsule_New(thing.get(), name, [](PyObject* object) {
    auto* held = static_cast<Thing*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) {
    thing->release(thing.get());
    nb::raise_python_error();
  }
  static_cast<void>(thing.release());
  return nb::steal(capsule);
}

constexpr const char* kSchemaCapsule = "arrow_schema";
constexpr const char* kArrayCapsule = "arrow_array";
constexpr const char* kStreamCapsule = "arrow_array_stream";

}  // namespace

nb::object table_schema(const TablePtr& table) {
  auto schema = std::make_unique<ArrowSchema>();
  export_table_schema(*table, *schema);
  return capsule_of(std::move(schema), kSchemaCapsule);
}

nb::object table_array(const TablePtr& table) {
  auto array = std::make_unique<ArrowArray>();
  export_table_array(table, *array);
  return nb::make_tuple(table_schema(table), capsule_of(std::move(array), kArrayCapsule));
}

nb::object table_stream(const TablePtr& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {.get_schema = stream_schema,
             .get_next = stream_next,
             .get_last_error = stream_error,
             .release = release_stream,
             .private_data = new StreamParts{.table = table}};
  return capsule_of(std::move(stream), kStreamCapsule);
}

nb::object column_schema(const TablePtr& table, std::size_t column) {
  auto schema = std::make_unique<ArrowSchema>();
  export_column_schema(table->view.columns()[column], *schema);
  return capsule_of(std::move(schema), kSchemaCapsule);
}

nb::object column_array(const TablePtr& table, std::size_t column) {
  auto array = std::make_unique<ArrowArray>();
  export_column_array(table, column, *array);
  return nb::make_tuple(column_schema(table, column), capsule_of(std::move(array), kArrayCapsule));
}

}  // namespace fathom::python
