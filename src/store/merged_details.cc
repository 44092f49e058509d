// Copies detail rows in the order in which slices need them.
#include "store/merged_details.h"

#include <type_traits>

#include "store/slice_appender.h"

namespace fathom {

LaunchConfigId MergedDetails::config(LaunchConfigId theirs) {
  if (!theirs.valid()) return theirs;
  if (!indexed_) {
    indexed_ = true;
    known_.resize(other_.launch_configs.size());
    for (std::size_t row = 0; row < base_.launch_configs.size(); ++row)
      configs_.emplace(base_.launch_configs[row], LaunchConfigId(row));
  }
  LaunchConfigId& mine = known_[theirs.row()];
  if (mine.valid()) return mine;
  const LaunchConfig& config = other_.launch_configs[theirs.row()];
  const auto [at, added] =
      configs_.try_emplace(config, LaunchConfigId(base_.launch_configs.size()));
  if (added) base_.launch_configs.push_back(config);
  return mine = at->second;
}

StringId MergedDetails::text(StringId theirs) {
  return theirs.valid() ? base_.strings.intern(other_.text(theirs)) : theirs;
}

template <typename Row>
Row MergedDetails::of_base(Row row) {
  Row::each(
      [this](auto& field) {
        using Field = std::remove_reference_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, StringId>) field = text(field);
        if constexpr (std::is_same_v<Field, LaunchConfigId>) field = config(field);
      },
      row);
  return row;
}

std::uint32_t MergedDetails::copy(SliceKind kind, std::uint32_t row) {
  if (row == SliceId::kNone) return row;
  SliceAppender base(base_);
  switch (kind) {
    case SliceKind::kernel:
      return base.add_detail(of_base(other_.kernels.row(row)));
    case SliceKind::memcpy:
    case SliceKind::memset:
      return base.add_detail(of_base(other_.copies.row(row)));
    case SliceKind::sync:
      return base.add_detail(of_base(other_.syncs.row(row)));
    default:
      return SliceId::kNone;
  }
}

}  // namespace fathom
