// The first step of a pipeline: its window also holds what the device still does after the host.
#pragma once

#include "analysis/structure/steps.h"

namespace fathom {

/// The length of a first step that compares with those after it. Where the device works on after
/// the host has gone on, each later window begins that much later; the first does not. Beyond a
/// usual step the device's work is the first step's own, and counts.
Duration length_without_fill(const Step& first, Duration usual);

}  // namespace fathom
