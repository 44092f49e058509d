// The names by which vendors are recognised.
#include "analysis/structure/vendor.h"

namespace fathom {

namespace {

/// Is there a call of a runtime or driver of such a name?
template <typename Matches>
bool any_call(const Trace& trace, const Matches& matches) {
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceKind kind = trace.kind(SliceId(row));
    const bool call = is_runtime_call(kind);
    if (call && matches(trace.name(SliceId(row)))) return true;
  }
  return false;
}

}  // namespace

bool speaks_cuda(const Trace& trace) {
  const auto is_cuda = [](std::string_view name) {
    return name.starts_with("cu") || name.starts_with("hip");
  };
  return any_call(trace, is_cuda) || !any_call(trace, [](std::string_view) { return true; });
}

bool speaks_hip(const Trace& trace) {
  return any_call(trace, [](std::string_view name) { return name.starts_with("hip"); });
}

bool segments_can_expand(const Trace& trace) { return speaks_cuda(trace) && !speaks_hip(trace); }

bool is_stream_wait(std::string_view activity) {
  return activity == "event_wait" || activity == "event_record";
}

bool is_dma_request(std::string_view activity) { return activity == "dma_request"; }

}  // namespace fathom
