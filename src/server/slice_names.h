// SliceNames: the names of slices, numbered as the page asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom::server {

/// Number 0 is no name; the others are in the order of the first slice that is called so. Thus the
/// same recording gives the same numbers, which those of the string pool do not where several
/// threads read. Immutable. The trace must outlive it.
class SliceNames {
 public:
  /// O(slices + strings).
  explicit SliceNames(const Trace& trace);

  /// 0 for what no slice is called.
  [[nodiscard]] std::uint32_t number(StringId name) const {
    return name.row() < numbers_.size() ? numbers_[name.row()] : 0;
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  /// "" for what is no number of a name.
  [[nodiscard]] std::string_view text(std::size_t number) const {
    return number < names_.size() ? strings_->view(names_[number]) : std::string_view();
  }

 private:
  const StringPool* strings_;
  std::vector<std::uint32_t> numbers_;  // by string
  std::vector<StringId> names_;         // by number
};

}  // namespace fathom::server
