// The names by which vendors are recognised.
#include "analysis/structure/vendor.h"

namespace fathom {

bool speaks_cuda(const Trace& trace) {
  bool calls = false;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    const SliceKind kind = trace.kind(slice);
    if (kind != SliceKind::runtime && kind != SliceKind::driver) continue;
    const std::string_view name = trace.name(slice);
    if (name.starts_with("cu") || name.starts_with("hip")) return true;
    calls = true;
  }
  return !calls;
}

bool is_stream_wait(std::string_view activity) {
  return activity == "event_wait" || activity == "event_record";
}

bool is_dma_request(std::string_view activity) { return activity == "dma_request"; }

}  // namespace fathom
