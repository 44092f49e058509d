// Counts the basic blocks that run: compilers put a call of this function at the beginning of each
// (cmake/work_count.cmake).
#include "tests/scaling/work_count.h"

namespace fathom {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the compiler passes nothing.
constinit thread_local std::uint64_t blocks = 0;

}  // namespace

std::uint64_t work_done() { return blocks; }
void add_work(std::uint64_t more) { blocks += more; }

}  // namespace fathom

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the compilers' name.
extern "C" void __sanitizer_cov_trace_pc() { ++fathom::blocks; }
