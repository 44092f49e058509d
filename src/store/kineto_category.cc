// The table of Kineto's spellings of categories.
#include "store/kineto_category.h"

namespace fathom {

std::string_view kineto_category(SliceKind kind) {
  switch (kind) {
    case SliceKind::runtime:
      return "cuda_runtime";
    case SliceKind::driver:
      return "cuda_driver";
    case SliceKind::memcpy:
      return "gpu_memcpy";
    case SliceKind::memset:
      return "gpu_memset";
    case SliceKind::sync:
      return "cuda_sync";
    case SliceKind::trace_span:
      return "Trace";
    case SliceKind::profiler_range:
      return "cuda_profiler_range";
    default:
      return to_string(kind);
  }
}

}  // namespace fathom
