// Charts of the diagnosis page, as inline SVG.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/page.h"

namespace fathom::page {

/// One stacked bar of the counted steps together, with its legend.
std::string accounting_bar(const Diagnosis& diagnosis);
/// A bar per step, stacked by bucket where there is a device; at most 300 steps, evenly chosen.
std::string step_chart(const Diagnosis& diagnosis);
/// Threads and streams of the median step.
std::string timeline_strip(const Page& page);
/// The flame graph, from the outermost frame down; a click zooms.
std::string flame_graph(const Page& page);

}  // namespace fathom::page
