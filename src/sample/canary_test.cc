#include "sample/canary.h"

#include <string>

#include <gtest/gtest.h>

#include "sample/made_memory.h"

namespace fathom::sample {
namespace {

constexpr Address kPage = 0x7000;

TEST(Canary, IsFoundByTheNameOfItsMemory) {
  EXPECT_EQ(find_canary(parse_mappings("7000-8000 rw-p 00000000 00:01 12     /usr/lib/a.so\n"
                                       "9000-a000 rw-p 00000000 00:01 13     "
                                       "/memfd:fathom-canary (deleted)\n")),
            0x9000U);
  EXPECT_FALSE(find_canary(parse_mappings("7000-8000 rw-p 00000000 00:01 12     /memfd:x\n")));
}

TEST(Canary, SaysThreadAndFunction) {
  MadeMemory memory;
  memory.map(kPage, 4096);
  EXPECT_FALSE(read_canary(memory, kPage)) << "not written yet";
  memory.put_text(kPage, "fathomCA");
  EXPECT_FALSE(read_canary(memory, kPage)) << "nobody is in the function";
  memory.put<std::int64_t>(kPage + 8, 4711);
  memory.put<std::uint64_t>(kPage + 16, 0x1234);
  const auto canary = read_canary(memory, kPage);
  ASSERT_TRUE(canary);
  EXPECT_EQ(canary->native, 4711);
  EXPECT_EQ(canary->code, 0x1234U);
  memory.put<std::int64_t>(kPage + 8, -1);
  EXPECT_FALSE(read_canary(memory, kPage));
  EXPECT_FALSE(read_canary(memory, 0x100000));
}

}  // namespace
}  // namespace fathom::sample
