// Known checksums.
#include "base/crc32.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Crc32, HasTheCheckValueOfItsDefinition) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);  // the "check" of CRC-32/ISO-HDLC
  EXPECT_EQ(crc32(""), 0U);
}

}  // namespace
}  // namespace fathom
