// The findings of the diagnosis page.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"

namespace fathom::page {

/// The order of quick wins, then every finding about the program with its evidence, by gain.
std::string findings(const Diagnosis& diagnosis);
/// Remarks on the recording, in the same way; "" where there are none.
std::string remarks(const Diagnosis& diagnosis);
/// Every rule: what it said, and its definition.
std::string rules(const Diagnosis& diagnosis);

}  // namespace fathom::page
