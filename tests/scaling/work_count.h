// How much work was done, in basic blocks: the same on every machine and in every run.
#pragma once

#include <cstdint>

namespace fathom {

/// What this thread has done up to now: basic blocks that it entered in rooms that count
/// (cmake/work_count.cmake), and what it copied and compared. 0 in builds that do not count.
std::uint64_t work_done();
/// Adds what no basic block stands for.
void add_work(std::uint64_t blocks);

}  // namespace fathom
