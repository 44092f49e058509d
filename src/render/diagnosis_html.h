// A diagnosis as one self-contained page: no network, light and dark, printable.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/page.h"

namespace fathom {

/// In the order of the four phases: conditions and baseline, bottleneck type, components,
/// operations.
std::string render_diagnosis_html(const Diagnosis& diagnosis, const Page& page);

}  // namespace fathom
