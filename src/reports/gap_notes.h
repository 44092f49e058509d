// What reports say of gaps whose cause was not looked for.
#pragma once

#include <string>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// Adds a note where devices had so many gaps in common that not each of them was explained.
void note_unasked_gaps(const Context& context, std::vector<std::string>& notes);

}  // namespace fathom
