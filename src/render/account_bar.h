// The accounting of the counted steps as a bar of characters with its legend.
#pragma once

#include <cstddef>
#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "render/style.h"

namespace fathom {

/// Two or more lines that begin with `indent` blanks; "" where nothing was accounted for. Parts
/// below 0.05 % have no place in the legend.
std::string account_bar(const Diagnosis& diagnosis, std::size_t indent, const Style& style);

}  // namespace fathom
