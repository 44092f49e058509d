// Programs whose memory runs out at each allocation of the recorder in turn, and what they record.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "tests/programs/recorded.h"

namespace fathom::test {

/// Of one run, in a file that the program maps.
struct StarvingReport {
  std::atomic<std::uint64_t> allocations{0};
  std::atomic<std::uint64_t> failed{0};
};

/// The status with which every such program ends.
inline constexpr int kStarvedExit = 7;

/// Of what a run leaves: that its files are sound, or also that they say so where they lack
/// something that a run without failures records; or that there are none, and the program itself
/// has looked at what it was to record.
enum class Expect : std::uint8_t { sound_files, losses_said, no_files };

/// Runs the program again and again, with the first, the second, … allocation of the recorder
/// failing, until a run has so few; then with that and all later ones failing. Fails the test where
/// a run does not end with kStarvedExit, or its files are not as expected.
void expect_to_survive_starving(const std::string& program, const Environment& environment,
                                Expect expect = Expect::losses_said);

}  // namespace fathom::test
