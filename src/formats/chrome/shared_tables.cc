// Category spellings of every recorder.
#include "formats/chrome/shared_tables.h"

#include <array>
#include <string>

namespace fathom::chrome {
namespace {

struct CategorySpelling {
  std::string_view text;  // lower case
  SliceKind kind;
};

constexpr CategorySpelling kCategories[] = {
    {"cpu_op", SliceKind::cpu_op},
    {"operator", SliceKind::cpu_op},
    {"user_annotation", SliceKind::user_annotation},
    {"gpu_user_annotation", SliceKind::gpu_user_annotation},
    {"kernel", SliceKind::kernel},
    {"mtia_ccp_events", SliceKind::kernel},
    {"gpu_memcpy", SliceKind::memcpy},
    {"memcpy", SliceKind::memcpy},
    {"gpu_memset", SliceKind::memset},
    {"memset", SliceKind::memset},
    {"cuda_runtime", SliceKind::runtime},
    {"hip_runtime", SliceKind::runtime},
    {"xpu_runtime", SliceKind::runtime},
    {"mtia_runtime", SliceKind::runtime},
    {"privateuse1_runtime", SliceKind::runtime},
    {"glow_runtime", SliceKind::runtime},
    {"hpu_op", SliceKind::runtime},
    {"runtime", SliceKind::runtime},
    {"cuda_api", SliceKind::runtime},
    {"cuda_driver", SliceKind::driver},
    {"hip_driver", SliceKind::driver},
    {"xpu_driver", SliceKind::driver},
    {"privateuse1_driver", SliceKind::driver},
    {"driver", SliceKind::driver},
    {"cuda_sync", SliceKind::sync},
    {"xpu_sync", SliceKind::sync},
    {"cuda_event", SliceKind::sync},
    {"python_function", SliceKind::python_function},
    {"python", SliceKind::python_function},
    {"overhead", SliceKind::overhead},
    {"trace", SliceKind::trace_span},
    {"cuda_profiler_range", SliceKind::profiler_range},
};

}  // namespace

SharedTables::SharedTables() {
  categories.intern(strings.intern(""));  // row 0: no category
  for (const CategorySpelling& known : kCategories) {
    const std::uint32_t row = categories.intern(strings.intern(known.text));
    std::uint8_t& first = first_of_kind[static_cast<std::size_t>(known.kind)];
    if (first == 0) first = static_cast<std::uint8_t>(row);
  }
}

std::uint8_t SharedTables::category(StringId name, SliceKind kind) {
  const std::uint32_t row = categories.intern(name);
  if (row <= kLastCategory) return static_cast<std::uint8_t>(row);
  return first_of_kind[static_cast<std::size_t>(kind)];
}

SliceKind kind_of_category(std::string_view category) {
  std::string lower(category);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  for (const CategorySpelling& spelling : kCategories) {
    if (spelling.text == lower) return spelling.kind;
  }
  return SliceKind::other;
}

}  // namespace fathom::chrome
