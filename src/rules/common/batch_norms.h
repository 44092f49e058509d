// Convolutions whose result goes straight into a batch normalisation.
#pragma once

#include <optional>
#include <vector>

#include "rules/rule.h"

namespace fathom {

struct NormalisedConvolution {
  SliceId convolution{};
  SliceId norm{};
};

/// Those of the counted steps: the next operator beside the convolution is a batch normalisation.
/// What runs inside the convolution (another one under autocast) is part of it, and annotations
/// between do not matter. By thread and time. O(slices).
std::vector<NormalisedConvolution> normalised_convolutions(const RuleContext& rules);

bool is_batch_norm(std::string_view name);

/// May this operator be what batch normalisation counts its batches with, an addition to a number,
/// which it does in train mode alone? Where no shapes were recorded, any addition may.
bool counts_batches(const Trace& trace, SliceId op);

/// Does the normalisation use the statistics of its batch? Unset where that was not recorded.
std::optional<bool> trains(const Trace& trace, SliceId norm);

}  // namespace fathom
