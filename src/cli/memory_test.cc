// Where operator new puts large blocks.
#include "cli/memory.h"

#include <cstddef>
#include <cstdint>
#include <new>

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

TEST(Memory, LargeBlocksBeginWhereAHugePageMay) {
#if defined(FATHOM_SANITIZE_ADDRESS) || defined(FATHOM_SANITIZE_THREAD)
  GTEST_SKIP() << "sanitizers have their own operator new";
#endif
  set_up_memory();
  for (const std::size_t bytes : {kHugePage, kHugePage + 1, 5 * kHugePage - 1}) {
    void* const memory = ::operator new(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kHugePage, 0U) << bytes;
    ::operator delete(memory);
  }
}

}  // namespace
}  // namespace fathom::cli
