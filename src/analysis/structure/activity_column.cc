// Builds the bit per slice that shows device activities.
#include "analysis/structure/activity_column.h"

#include <algorithm>
#include <array>

namespace fathom {

ActivityIndex::ActivityIndex(const Trace& trace) {
  std::array<std::uint8_t, 256> is_activity{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i) {
    is_activity[i] = is_device_activity(trace.categories[i].kind) ? 1 : 0;
  }
  const std::size_t slices = trace.slices.size();
  const std::uint8_t* category = trace.slices.category.data();
  words_.resize(slices / 64 + 1);
  ranks_.resize(words_.size());
  for (std::size_t word = 0; word < words_.size(); ++word) {
    std::uint64_t bits = 0;
    const std::size_t end = std::min(slices, word * 64 + 64);
    for (std::size_t row = word * 64; row < end; ++row) {
      bits |= std::uint64_t{is_activity[category[row]]} << row % 64;
    }
    words_[word] = bits;
    ranks_[word] = static_cast<std::uint32_t>(size_);
    size_ += static_cast<std::size_t>(std::popcount(bits));
  }
}

std::vector<SliceId> ActivityIndex::rows() const {
  std::vector<SliceId> rows;
  rows.reserve(size_);
  for (std::size_t word = 0; word < words_.size(); ++word) {
    for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      rows.push_back(SliceId(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
  return rows;
}

}  // namespace fathom
