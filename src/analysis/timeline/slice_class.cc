// Classifies kernels by name and everything else by kind.
#include "analysis/timeline/slice_class.h"

#include <array>

#include "analysis/kernels/kernel_class.h"

namespace fathom {
namespace {

// Other, then the classes of kernels in their order but `other`, then what follows.
enum After : std::uint8_t {
  first_kernel = 1,
  copy = first_kernel + static_cast<std::uint8_t>(KernelClass::other),
  fill,
  cpu_operator,
  annotation,
  runtime_call,
  driver_call,
  wait,
  frame,
  profiler,
  count,
};

constexpr std::array<std::string_view, count> kIds = {
    "other",     "gemm",       "conv",      "attention", "normalisation", "softmax", "elementwise",
    "reduction", "embedding",  "optimizer", "copy_like", "communication", "memcpy",  "memset",
    "operator",  "annotation", "runtime",   "driver",    "sync",          "frame",   "profiler"};

std::uint8_t class_of_kind(SliceKind kind) {
  switch (kind) {
    case SliceKind::memcpy:
      return copy;
    case SliceKind::memset:
      return fill;
    case SliceKind::cpu_op:
      return cpu_operator;
    case SliceKind::user_annotation:
    case SliceKind::gpu_user_annotation:
      return annotation;
    case SliceKind::runtime:
      return runtime_call;
    case SliceKind::driver:
      return driver_call;
    case SliceKind::sync:
      return wait;
    case SliceKind::python_function:
      return frame;
    case SliceKind::overhead:
    case SliceKind::trace_span:
    case SliceKind::profiler_range:
      return profiler;
    default:
      return 0;
  }
}

std::uint8_t class_of_kernel(std::string_view name) {
  const KernelClass found = classify_kernel(name).kernel_class;
  if (found == KernelClass::other) return 0;
  return static_cast<std::uint8_t>(first_kernel + static_cast<std::uint8_t>(found));
}

}  // namespace

std::span<const std::string_view> slice_class_ids() { return kIds; }

SliceClasses::SliceClasses(const Trace& trace) : trace_(trace) {
  bool kernels = false;
  for (const Category& category : trace.categories) {
    const bool kernel = category.kind == SliceKind::kernel;
    kernels = kernels || kernel;
    by_category_.push_back(kernel ? kByName : class_of_kind(category.kind));
  }
  if (!kernels) return;
  by_name_.assign(trace.strings.size(), kByName);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (by_category_[trace.slices.category[row]] != kByName) continue;
    std::uint8_t& known = by_name_[trace.slices.name[row].row()];
    if (known == kByName) known = class_of_kernel(trace.text(trace.slices.name[row]));
  }
}

}  // namespace fathom
