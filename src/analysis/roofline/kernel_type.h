// The type of number that a kernel computes with, as far as its name says.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/roofline/number_type.h"
#include "store/trace.h"

namespace fathom {

/// From template arguments and from the letters of libraries (sgemm, hgemm); unknown where the name
/// shows none. Of several types the narrowest: what is multiplied is no wider than its sum.
NumberType type_of_kernel(std::string_view name);

/// The same of many kernels of a trace: each name is looked at once.
class KernelTypes {
 public:
  explicit KernelTypes(const Trace& trace) : trace_(trace), known_(trace.strings.size()) {}
  NumberType of(SliceId kernel) {
    const StringId name = trace_.slices.name[kernel.row()];
    std::optional<NumberType>& known = known_[name.row()];
    if (!known) known = type_of_kernel(trace_.text(name));
    return *known;
  }

 private:
  const Trace& trace_;
  std::vector<std::optional<NumberType>> known_;  // by name
};

}  // namespace fathom
