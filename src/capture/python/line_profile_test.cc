#include "capture/python/line_profile.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capture/python/memory_limit.h"

namespace fathom::python {
namespace {

struct Row {
  std::uint64_t hits = 0;
  std::int64_t self = 0;
  std::int64_t total = 0;
  bool operator==(const Row&) const = default;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.hits << " hits, self " << row.self << ", total " << row.total;
}

/// Tables that no interpreter has made.
class Code {
 public:
  /// A statement for each line from 10 on, and how many lines each statement has.
  Code(std::vector<Statement> lines, const std::vector<int>& lengths)
      : lines_(std::move(lines)), is_long_(new bool[lengths.size() + 1]()) {
    table_.code = &object_;
    table_.first = 10;
    table_.count = lines_.size();
    table_.lines = lines_.data();
    table_.statements = static_cast<Statement>(lengths.size());
    for (std::size_t at = 0; at < lengths.size(); ++at) is_long_[at + 1] = lengths[at] > 1;
    table_.is_long = is_long_.get();
  }
  [[nodiscard]] const LineTable& table() const { return table_; }
  [[nodiscard]] const void* key() const { return &object_; }

 private:
  PyObject object_ = {};
  std::vector<Statement> lines_;
  std::unique_ptr<bool[]> is_long_;
  LineTable table_;
};

/// Profiles are never freed, as in a program: they last as long as it.
LineProfile& new_profile() {
  static auto* const kept = new std::vector<std::unique_ptr<LineProfile>>;
  kept->push_back(std::make_unique<LineProfile>());
  return *kept->back();
}

class LineProfileTest : public ::testing::Test {
 protected:
  LineProfileTest() { MemoryLimit::set(std::size_t{1} << 30U); }

  void enter(const Code& code, std::uint64_t now, Statement goes_on = 0) {
    profile_.enter(code.table(), goes_on, now);
  }
  void line(const Code& code, long line, std::uint64_t now) {
    profile_.line(code.key(), line, now);
  }
  void leave(const Code& code, std::uint64_t now) { profile_.leave(code.key(), now); }
  Row row(const Code& code, Statement statement) {
    Row found;
    profile_.visit([&](const ThreadCode& each) {
      if (each.key != code.key()) return;
      const StatementSums& sums = each.sums[statement];
      found = {sums.hits, sums.self, sums.total};
    });
    return found;
  }

  LineProfile& profile_ = new_profile();
  Code f_{{1, 2, 3}, {1, 1, 1}};
  Code g_{{1, 1, 2}, {2, 1}};  // a statement of two lines, and one
};

TEST_F(LineProfileTest, AStatementLastsToTheNextOrToTheEnd) {
  enter(f_, 0);
  line(f_, 10, 5);
  line(f_, 11, 15);
  line(f_, 10, 40);
  leave(f_, 100);
  EXPECT_EQ(row(f_, 1), (Row{2, 70, 70}));
  EXPECT_EQ(row(f_, 2), (Row{1, 25, 25}));
  EXPECT_EQ(row(f_, 3), (Row{0, 0, 0}));
  EXPECT_EQ(row(f_, 0), (Row{0, 5, 5}));  // before the first
}

TEST_F(LineProfileTest, TotalTimesHoldWhatWasCalledOwnTimesDoNot) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(g_, 10);
  line(g_, 12, 12);
  leave(g_, 40);
  leave(f_, 50);
  EXPECT_EQ(row(f_, 1), (Row{1, 20, 50}));
  EXPECT_EQ(row(g_, 2), (Row{1, 28, 28}));
  EXPECT_EQ(row(g_, 0), (Row{0, 2, 2}));
}

TEST_F(LineProfileTest, TheLinesOfOneStatementAreOneHit) {
  enter(g_, 0);
  line(g_, 10, 0);
  line(g_, 11, 1);
  line(g_, 10, 2);  // back to where the call stands
  line(g_, 12, 3);
  line(g_, 12, 4);  // a loop in one line
  line(g_, 10, 5);
  leave(g_, 6);
  EXPECT_EQ(row(g_, 1), (Row{2, 4, 4}));
  EXPECT_EQ(row(g_, 2), (Row{2, 2, 2}));
}

TEST_F(LineProfileTest, PartsSumToTheWholeToTheNanosecond) {
  constexpr double kRatio = 0.41;  // no part of whole nanoseconds
  std::map<std::pair<const void*, unsigned>, Row> sums;
  const auto end_part = [&](std::uint64_t now) {
    profile_.fold(now, kRatio, [&](const ThreadCode& code, unsigned at, const FoldedSums& part) {
      EXPECT_FALSE(part.empty());
      Row& sum = sums[{code.key, at}];
      sum.hits += part.hits;
      sum.self += part.self;
      sum.total += part.total;
    });
  };
  std::uint64_t now = 0;
  for (int round = 0; round < 40; ++round) {
    enter(f_, now += 3);
    line(f_, 10, now += 5);
    if (round % 3 == 0) end_part(now += 1);
    enter(g_, now += 7);
    line(g_, 10, now += 1);
    if (round % 2 == 0) end_part(now += 9);
    line(g_, 12, now += 2);
    leave(g_, now += 13);
    line(f_, 12, now += 1);
    leave(f_, now += 4);
  }
  end_part(now);
  std::map<std::pair<const void*, unsigned>, Row> folded;
  profile_.visit([&](const ThreadCode& code) {
    for (unsigned at = 1; at <= code.table->statements; ++at)
      if (const FoldedSums& all = code.folded[at]; !all.empty())
        folded[{code.key, at}] = {all.hits, all.self, all.total};
  });
  EXPECT_EQ(sums, folded);
  EXPECT_EQ((sums[{f_.key(), 1}].hits), 40U);
  EXPECT_EQ((sums.count({f_.key(), 2})), 0U);
  profile_.forget_folded();
  profile_.visit([](const ThreadCode& code) {
    for (unsigned at = 0; at <= code.table->statements; ++at) EXPECT_TRUE(code.folded[at].empty());
  });
}

TEST_F(LineProfileTest, OfARecursionTheOutermostCounts) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(f_, 10);
  line(f_, 10, 10);
  line(f_, 11, 20);
  leave(f_, 25);
  leave(f_, 30);
  EXPECT_EQ(row(f_, 1), (Row{2, 25, 30}));
  EXPECT_EQ(row(f_, 2), (Row{1, 5, 5}));
}

TEST_F(LineProfileTest, AGeneratorGoesOnInItsStatementAndIsNotChargedWithItsRest) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(g_, 0);
  line(g_, 12, 0);
  leave(g_, 10);  // yields
  line(f_, 11, 20);
  enter(g_, 30, 2);
  leave(g_, 35);
  leave(f_, 40);
  EXPECT_EQ(row(g_, 2), (Row{1, 15, 15}));
  EXPECT_EQ(row(f_, 1), (Row{1, 10, 20}));
  EXPECT_EQ(row(f_, 2), (Row{1, 15, 20}));
}

TEST_F(LineProfileTest, WhatIsOpenIsInTheSumsWhenTheyAreTaken) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(g_, 10);
  line(g_, 12, 10);
  profile_.settle(30);
  EXPECT_EQ(row(f_, 1), (Row{1, 10, 30}));
  EXPECT_EQ(row(g_, 2), (Row{1, 20, 20}));
  profile_.clear(30);
  leave(g_, 35);
  leave(f_, 50);
  EXPECT_EQ(row(f_, 1), (Row{0, 15, 20}));
  EXPECT_EQ(row(g_, 2), (Row{0, 5, 5}));
}

TEST_F(LineProfileTest, FramesThatEndWithoutAWordAreClosed) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(g_, 10);
  line(g_, 12, 10);
  line(f_, 11, 20);
  leave(f_, 30);
  EXPECT_EQ(row(g_, 2), (Row{1, 10, 10}));
  EXPECT_EQ(row(f_, 2), (Row{1, 10, 10}));
  EXPECT_EQ(profile_.unmatched(), 1U);
  leave(g_, 40);  // of nobody: nothing is open
  EXPECT_EQ(profile_.unmatched(), 1U);
}

TEST_F(LineProfileTest, LinesThatAreNoneCountForNothing) {
  enter(f_, 0);
  line(f_, 9, 1);
  line(f_, 13, 2);
  line(f_, -5, 3);
  leave(f_, 10);
  for (Statement at = 1; at <= 3; ++at) EXPECT_EQ(row(f_, at), Row());
}

TEST_F(LineProfileTest, WithoutMemoryLinesAreCountedAndFramesStayInOrder) {
  enter(f_, 0);
  line(f_, 10, 0);
  MemoryLimit::set(0);
  enter(g_, 10);
  line(g_, 12, 11);
  enter(f_, 12);
  line(f_, 10, 13);
  leave(f_, 14);
  leave(g_, 20);
  line(f_, 11, 30);
  leave(f_, 40);
  EXPECT_EQ(profile_.lost(), 2U);
  EXPECT_EQ(row(f_, 1), (Row{1, 30, 30}));
  EXPECT_EQ(row(f_, 2), (Row{1, 10, 10}));
}

TEST_F(LineProfileTest, LinesOfCodeWithoutATableAreCounted) {
  line(f_, 10, 0);
  EXPECT_EQ(profile_.lost(), 1U);
}

class LineTimelineTest : public LineProfileTest {
 protected:
  LineTimelineTest() {
    profile_.belongs_to(7);
    LineTimeline::turn(true);
  }
  ~LineTimelineTest() override {
    LineTimeline::turn(false);
    profile_.timeline().clear();
  }
  LineTimelineTest(const LineTimelineTest&) = delete;
  LineTimelineTest& operator=(const LineTimelineTest&) = delete;

  /// "7: f1 0-10, …" up to that moment.
  std::vector<std::string> runs(std::uint64_t now) {
    std::vector<std::string> found;
    profile_.timeline().visit(now, [&](const LineTimeline::Run& run) {
      const std::string name = run.table == &f_.table() ? "f" : "g";
      found.push_back(std::to_string(run.tid) + ": " + name + std::to_string(run.statement) + " " +
                      std::to_string(run.begin) + "-" + std::to_string(run.end));
    });
    return found;
  }
  using Runs = std::vector<std::string>;
};

TEST_F(LineTimelineTest, AThreadIsInTheInnermostStatement) {
  enter(f_, 0);
  line(f_, 10, 0);
  enter(g_, 10);  // a call is its caller's until its first line begins
  line(g_, 12, 12);
  line(g_, 12, 20);  // a loop in one line is one run
  leave(g_, 40);
  line(f_, 11, 45);
  leave(f_, 50);
  EXPECT_EQ(runs(60), (Runs{"7: f1 0-12", "7: g2 12-40", "7: f1 40-45", "7: f2 45-50"}));
}

TEST_F(LineTimelineTest, WhatIsOpenBeginsAndEndsWithIt) {
  LineTimeline::turn(false);
  enter(f_, 0);
  line(f_, 10, 0);
  EXPECT_EQ(runs(20), Runs{});
  LineTimeline::turn(true);
  profile_.begin_timeline(30);
  EXPECT_EQ(runs(35), Runs{"7: f1 30-35"});
  enter(g_, 40, 2);  // a generator goes on in its statement
  EXPECT_EQ(runs(50), (Runs{"7: f1 30-40", "7: g2 40-50"}));
  profile_.begin_timeline(60);
  EXPECT_EQ(runs(70), Runs{"7: g2 60-70"});
  profile_.abandon();
}

TEST_F(LineTimelineTest, AThreadThatIsGoneEndsWithWhatIsKnownOfIt) {
  enter(f_, 0);
  line(f_, 10, 0);
  line(f_, 11, 10);
  profile_.abandon();
  profile_.belongs_to(8);
  enter(g_, 30);
  line(g_, 10, 30);
  leave(g_, 40);
  EXPECT_EQ(runs(100), (Runs{"7: f1 0-10", "8: g1 30-40"}));
}

TEST_F(LineTimelineTest, ManyShortThreadsShareTheRoom) {
  constexpr std::uint64_t kThreads = 2000;
  for (std::uint64_t at = 0; at < kThreads; ++at) {
    profile_.belongs_to(static_cast<std::int64_t>(at + 1));
    enter(f_, at * 10);
    line(f_, 10, at * 10);
    profile_.abandon();
    enter(f_, at * 10 + 2);
    line(f_, 11, at * 10 + 2);
    leave(f_, at * 10 + 5);
  }
  EXPECT_EQ(profile_.timeline().lost(), 0U);
  const Runs found = runs(kThreads * 10);
  ASSERT_EQ(found.size(), kThreads);
  EXPECT_EQ(found.front(), "1: f2 2-5");
  EXPECT_EQ(found.back(), "2000: f2 19992-19995");
}

TEST_F(LineTimelineTest, OfAThreadThatIsNotRecordedNothingIsKept) {
  profile_.belongs_to(0);
  enter(f_, 0);
  line(f_, 10, 0);
  EXPECT_EQ(runs(20), Runs{});
  leave(f_, 20);
}

TEST_F(LineTimelineTest, WithoutRoomItEndsAndCountsWhatIsMissing) {
  enter(f_, 0);
  std::uint64_t now = 0;
  for (; now < LineTimeline::kMost + 100; ++now) line(f_, now % 2 == 0 ? 10 : 11, now);
  EXPECT_GT(profile_.timeline().lost(), 99U);
  EXPECT_LT(profile_.timeline().lost(), 2000U);
  const std::size_t kept = now - profile_.timeline().lost();
  const Runs found = runs(now);
  ASSERT_EQ(found.size(), kept);
  const std::string end = std::to_string(kept - 1) + "-" + std::to_string(kept);
  EXPECT_TRUE(found.back().ends_with(end)) << found.back();
  leave(f_, now);
  // The memory serves the next one.
  MemoryLimit::set(0);
  profile_.begin_timeline(now);
  enter(f_, now);
  line(f_, 10, now);
  EXPECT_EQ(runs(now + 5).size(), 1U);
  leave(f_, now + 9);
}

TEST_F(LineProfileTest, AThreadThatIsGoneLeavesNothingOpen) {
  enter(f_, 0);
  line(f_, 10, 0);
  profile_.abandon();
  enter(f_, 100);
  line(f_, 10, 100);
  leave(f_, 110);
  EXPECT_EQ(row(f_, 1), (Row{2, 10, 10}));
}

}  // namespace
}  // namespace fathom::python
