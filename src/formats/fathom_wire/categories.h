// What the categories of a capture file (docs/wire.md) are as slices.
#pragma once

#include <string_view>

#include "store/trace.h"

namespace fathom::own {

struct CategoryRule {
  std::string_view spelling;
  SliceKind kind;
  bool beside = false;  ///< It lies beside the threads: it does not nest with what they do.
};

/// The rule of that spelling, or nullptr.
[[nodiscard]] const CategoryRule* rule_of(std::string_view spelling);

}  // namespace fathom::own
