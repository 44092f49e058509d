#include "base/enumerators.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace fathom {
namespace {

enum class Colour : std::uint8_t { red, green, blue };
enum class One : std::uint8_t { only };
enum class None : std::uint8_t {};

struct Room {
  enum class Side : std::uint8_t { left, right };
};

static_assert(count_enumerators<Colour>() == 3);
static_assert(count_enumerators<One>() == 1);
static_assert(count_enumerators<None>() == 0);
static_assert(count_enumerators<Room::Side>() == 2);

TEST(Enumerators, AreCountedUpToTheLastThatHasAName) {
  EXPECT_EQ(count_enumerators<Colour>(), static_cast<int>(Colour::blue) + 1);
}

}  // namespace
}  // namespace fathom
