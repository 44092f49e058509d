// Selects the rows of a trace to be exported.
#include "export/chosen.h"

namespace fathom {

Chosen::Chosen(const Trace& trace, const WriteSelection& selection)
    : trace_(trace), selection_(selection), all_(!selection.window && !selection.device) {
  if (all_) return;
  for (std::size_t row = 0; row < trace.flows.size(); ++row) {
    if (!moment(trace.flows.track[row], trace.flows.time[row]))
      cut_.insert(arrow(trace.flows.id[row], trace.flows.category[row]));
  }
}

std::uint64_t Chosen::arrow(std::int64_t id, StringId category) {
  std::uint64_t mixed = static_cast<std::uint64_t>(id) + 0x9e3779b97f4a7c15ULL * category.value;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31U);
}

bool Chosen::of_device(TrackId track) const {
  if (!selection_.device) return true;
  const std::int32_t device = trace_.tracks[track.row()].device;
  return device < 0 || device == *selection_.device;
}

}  // namespace fathom
