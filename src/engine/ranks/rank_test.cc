// Which recordings are ranks of one program.
#include "engine/ranks/rank.h"

#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Rank, RanksOfOneProgramAreDifferentOnesOfEquallyMany) {
  std::vector<Rank> ranks = {{.number = 0, .world_size = 2}, {.number = 1, .world_size = 2}};
  EXPECT_TRUE(are_ranks_of_one_program(ranks));
  ranks[1].number = 0;
  EXPECT_FALSE(are_ranks_of_one_program(ranks));
  ranks[1].number = 1;
  ranks[1].world_size = 8;
  EXPECT_FALSE(are_ranks_of_one_program(ranks));
  ranks[1].number = {};
  EXPECT_FALSE(are_ranks_of_one_program(ranks));
}

TEST(Rank, OneRankOfOneIsNoRankOfSeveral) {
  EXPECT_TRUE(is_rank({.number = 0, .world_size = {}}));
  EXPECT_FALSE(is_rank({.number = 0, .world_size = 1}));
  EXPECT_FALSE(is_rank({.number = {}, .world_size = 4}));
}

TEST(Rank, RecordingsOfOneProgramInOneSessionFolderNeedNotSayMore) {
  std::vector<Inputs::File> files(2);
  EXPECT_FALSE(are_of_one_session(files));
  for (Inputs::File& file : files) file.recording.folder = "run";
  EXPECT_TRUE(are_of_one_session(files));
  files[1].recording.program = "train.py (process 2)";
  EXPECT_FALSE(are_of_one_session(files));
  files[1].recording = {.folder = "other run"};
  EXPECT_FALSE(are_of_one_session(files));
}

}  // namespace
}  // namespace fathom
