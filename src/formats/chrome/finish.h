// From the rows of a whole file to a Trace: pairs closed, tracks named, times counted from the
// origin.
#pragma once

#include <vector>

#include "formats/chrome/batch.h"
#include "formats/chrome/shared_tables.h"
#include "store/trace.h"

namespace fathom::chrome {

/// Empties `rows` and `tables`.
Trace finish_trace(Batch& rows, SharedTables& tables, std::vector<Fact> facts);

/// B/E and b/e pairs to durations.
void close_pairs(Batch& rows);

/// Removes slices whose time was lost, when the other slices show that it was.
void drop_lost_times(Batch& rows);

/// Places to tracks and processes; rewrites the track columns of `rows`.
void build_tracks(Batch& rows, const std::vector<Place>& places, Trace& trace);

/// deviceProperties and distributedInfo among the facts.
void read_facts(Trace& trace);

}  // namespace fathom::chrome
