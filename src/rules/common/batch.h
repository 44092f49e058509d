// What a step works on, as recorded shapes show it.
#pragma once

#include <optional>
#include <string>

#include "rules/rule.h"

namespace fathom {

/// Means per counted step, from recorded shapes.
struct Batch {
  std::optional<double> samples;
  std::optional<double> tokens;
  std::string source;  ///< What they were read from: "aten::conv2d".
};

/// The batch of the counted steps; unset where shapes do not show it. A step's first convolution,
/// its largest embedding, or its first linear layer has it; where a step calls that several times,
/// the number of losses shows how many passes there are. O(n).
std::optional<Batch> find_batch(const RuleContext& rules);

}  // namespace fathom
