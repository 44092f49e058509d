// What a page in a file carries, part by part; each says what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "server/page_file/carrier.h"

namespace fathom::server {

/// What the page shows first and last leads to: places and slices of findings, and steps.
struct Places {
  std::vector<Interval> stretches;    ///< Of findings.
  std::vector<SliceId> slices;        ///< Likewise.
  std::vector<const Step*> steps;     ///< The median and the longest of those that count.
  std::vector<std::string> targets;   ///< Operators that cost the most.
  std::vector<std::string> findings;  ///< Ids of those that predict a step time.
};

/// Every table, in each grouping.
void carry_tables(Carrier& carrier);
/// Each slider of the drawer at each of its places, the switches in every combination, and what
/// each finding proposes.
void carry_what_if(Carrier& carrier, const OpenInput& input, const Places& places);
/// Parts of the file: until where all of the time gets finer, then the steps, then what findings
/// point at.
struct TimelineShares {
  double whole = 0.55;
  double steps = 0.80;
  double findings = 0.88;
};
/// Tracks, lanes and counters over all of the time, then ever finer; the places in full, as far as
/// there is room. The input is the one that the carrier asks about; `of` names it in sentences, ""
/// where there is one.
void carry_timeline(Carrier& carrier, OpenInput& input, const Places& places,
                    const TimelineShares& shares, const std::string& of);
/// What is known about single slices: those of the findings, then the longest of the steps.
void carry_slices(Carrier& carrier, OpenInput& input, const Places& places);

}  // namespace fathom::server
