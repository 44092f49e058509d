// What a program left each time it ran: one recording, or one of each rank.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/profile.h"
#include "stats/sample.h"

namespace fathom {

/// The recordings of one execution of a program; never empty.
using Run = std::vector<Profile>;
using Runs = std::vector<Run>;

/// Of the usual steps, in ns.
SampleSummary step_summary(const Profile& profile);

/// Has every recording a rank, and each another one?
bool ranked(const std::vector<Profile>& profiles);

/// Each recording once: copies of a file are no further runs. In their order.
std::vector<const Run*> distinct_runs(std::span<const Run> runs);

/// "6 recordings in base are 2: copies count once", of both sides; "" where there are no copies.
std::string copies_note(std::span<const Run> base, std::span<const Run> now);

/// Of one argument: the ranks of one program are one run; else each recording is a run.
Runs runs_of(std::vector<Profile> profiles);

}  // namespace fathom
