// The structs of Arrow's C data and C stream interfaces, as their specification prints them
// (https://arrow.apache.org/docs/format/CDataInterface.html); their layout is a stable ABI.
#pragma once

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the names are the specification's
extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

namespace fathom::python {

inline constexpr std::int64_t kArrowNullable = 2;

}  // namespace fathom::python
