// What a page in a file carries, part by part; each says what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "server/page_file/carrier.h"

namespace fathom::server {

/// What the page shows first and last leads to: places and slices of findings, and steps.
struct Places {
  std::vector<Interval> stretches;   ///< Of findings.
  std::vector<SliceId> slices;       ///< Likewise.
  std::vector<const Step*> steps;    ///< The median and the longest of those that count.
  std::vector<std::string> targets;  ///< Operators that cost the most.
};

/// Every table, in each grouping.
void carry_tables(Carrier& carrier);
/// Each slider of the drawer at each of its places, and the switches in every combination.
void carry_what_if(Carrier& carrier, const OpenInput& input, const Places& places);
/// Tracks, lanes and counters over all of the time, then ever finer; the places in full, as far as
/// there is room.
void carry_timeline(Carrier& carrier, OpenInput& input, const Places& places);
/// What is known about single slices: those of the findings, then the longest of the steps.
void carry_slices(Carrier& carrier, OpenInput& input, const Places& places);

}  // namespace fathom::server
