// Numbers the names of slices in one pass.
#include "server/slice_names.h"

namespace fathom::server {

SliceNames::SliceNames(const Trace& trace)
    : strings_(&trace.strings), numbers_(trace.strings.size()), names_(1) {
  for (const StringId name : trace.slices.name.span()) {
    if (name.row() >= numbers_.size() || strings_->view(name).empty()) continue;
    std::uint32_t& number = numbers_[name.row()];
    if (number != 0) continue;
    number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(name);
  }
}

}  // namespace fathom::server
