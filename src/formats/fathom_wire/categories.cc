// The table of categories of a capture file.
#include "formats/fathom_wire/categories.h"

#include <algorithm>
#include <iterator>

namespace fathom::own {
namespace {

constexpr CategoryRule kCategories[] = {
    {"annotation", SliceKind::user_annotation},
    {"range", SliceKind::user_annotation, true},
    {"frame", SliceKind::user_annotation, true},
    {"step", SliceKind::user_annotation},
    {"loader.fetch", SliceKind::user_annotation},
    {"loader.sample", SliceKind::other},
    {"loader.collate", SliceKind::other},
    {"loader.pin", SliceKind::other},
    {"gc", SliceKind::other},
    {"profile", SliceKind::trace_span, true},
    {"phase", SliceKind::trace_span, true},
    {"kernel", SliceKind::kernel},
    {"gpu_memcpy", SliceKind::memcpy},
    {"gpu_memset", SliceKind::memset},
    {"cuda_graph", SliceKind::kernel},
    {"cuda_sync", SliceKind::sync},
    {"cuda_runtime", SliceKind::runtime},
    {"cuda_driver", SliceKind::driver},
    {"overhead", SliceKind::overhead},
    {"overhead.device", SliceKind::overhead, true},
    {"line", SliceKind::other, true},
    {"host_function", SliceKind::other},
    {"python_function", SliceKind::python_function},
};

}  // namespace

const CategoryRule* rule_of(std::string_view spelling) {
  const auto* const at = std::ranges::find(kCategories, spelling, &CategoryRule::spelling);
  return at == std::end(kCategories) ? nullptr : at;
}

}  // namespace fathom::own
