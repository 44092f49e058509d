#include "engine/query/typed.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// What is left of options once they were parsed and written again.
TypedOptions written_again(const TypedOptions& options) {
  std::optional<Selection::StepRange> steps;
  std::optional<std::int32_t> device;
  std::optional<WindowRequest> window;
  for (const auto& [name, text] : options) {
    const Result<bool> taken = take_selection(name, text, {&steps, &device, &window});
    EXPECT_TRUE(taken && *taken) << name << " " << text;
  }
  return selection_options(steps, device, window);
}

TEST(SelectionOptions, AreWrittenAsTheyAreRead) {
  const TypedOptions closed = {{"steps", "3-7"}, {"device", "1"}, {"window", "10ns:5000ns"}};
  EXPECT_EQ(written_again(closed), closed);
  const TypedOptions open = {{"steps", "3-"}, {"window", "10ns:"}};
  EXPECT_EQ(written_again(open), open);
  EXPECT_EQ(written_again({{"steps", "5"}}), (TypedOptions{{"steps", "5"}}));
  EXPECT_EQ(written_again({}), TypedOptions{});
}

}  // namespace
}  // namespace fathom
