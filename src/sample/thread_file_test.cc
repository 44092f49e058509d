#include "sample/thread_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace fathom::sample {
namespace {

std::string own_stat() { return "/proc/" + std::to_string(::getpid()) + "/stat"; }

TEST(ThreadFile, IsReadWhetherItIsKeptOpenOrNot) {
  FileBudget budget(1);
  const ThreadFile kept(own_stat(), budget);
  const ThreadFile opened(own_stat(), budget);
  std::string buffer;
  const std::string begin = std::to_string(::getpid()) + " (";
  EXPECT_TRUE(kept.read(buffer).starts_with(begin));
  EXPECT_TRUE(opened.read(buffer).starts_with(begin));
  EXPECT_FALSE(budget.take());
}

TEST(ThreadFile, GivesItsPlaceBack) {
  FileBudget budget(1);
  { const ThreadFile kept(own_stat(), budget); }
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
}

TEST(ThreadFile, OfAThreadThatIsGoneNothingIsRead) {
  for (const long files : {0L, 1L}) {
    FileBudget budget(files);
    std::string buffer;
    EXPECT_EQ(ThreadFile("/proc/self/task/0/schedstat", budget).read(buffer), "");
  }
}

TEST(ThreadFile, LeavesMostOfTheFilesToOthers) {
  FileBudget budget;
  EXPECT_TRUE(budget.take());
}

}  // namespace
}  // namespace fathom::sample
