#include "capture/python/profile.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::python {
namespace {

struct Row {
  std::uint64_t calls = 0;
  std::uint64_t recursive = 0;
  std::int64_t self = 0;
  std::int64_t total = 0;
  bool operator==(const Row&) const = default;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.calls << " calls, " << row.recursive << " recursive, self " << row.self << ", total "
       << row.total;
}

/// Profiles are never freed, as in a program: they last as long as it.
Profile& new_profile() {
  static auto* const kept = new std::vector<std::unique_ptr<Profile>>;
  kept->push_back(std::make_unique<Profile>());
  return *kept->back();
}

/// A profile told what happens when, by the names of functions.
class Told {
 public:
  Told() { MemoryLimit::set(std::size_t{1} << 30U); }
  void enter(const char* name, std::uint64_t now) {
    profile_.enter(key(name), const_cast<char*>(name), label, now);
  }
  void leave(const char* name, std::uint64_t now) { profile_.leave(key(name), now); }
  Profile& profile() { return profile_; }

  /// "f", or "f<g" for f as called by g, and "f<" as called by nobody.
  Row row(const std::string& name) {
    Row found;
    profile_.visit(
        [&](const Edge& edge) {
          const std::string callee = text(*edge.callee);
          const std::string full = callee + "<" + text(*edge.caller);
          if (name == full) found = {edge.calls, edge.recursive, edge.self, edge.total};
          if (name == callee) {
            found.calls += edge.calls;
            found.self += edge.self;
          }
        },
        [&](const Function& function) {
          if (name != text(function)) return;
          found.recursive += function.recursive;
          found.total += function.total;
        });
    return found;
  }

 private:
  static void* label(const void* /*key*/, void* about) { return about; }
  const void* key(const char* name) { return &*keys_.try_emplace(name, 0).first; }
  std::string text(const Function& function) {
    if (profile_.is_root(function)) return "";
    return function.label == nullptr ? "lost" : static_cast<const char*>(function.label);
  }
  Profile& profile_ = new_profile();
  std::map<std::string, int> keys_;
};

TEST(Profile, OwnTimeIsWithoutThatOfCallees) {
  Told told;
  told.enter("f", 0);
  told.enter("g", 10);
  told.leave("g", 30);
  told.enter("g", 35);
  told.leave("g", 40);
  told.leave("f", 100);
  EXPECT_EQ(told.row("f"), (Row{1, 0, 75, 100}));
  EXPECT_EQ(told.row("g"), (Row{2, 0, 25, 25}));
}

TEST(Profile, EachCallerHasItsPart) {
  Told told;
  for (const char* caller : {"f", "h", "f"}) {
    told.enter(caller, 0);
    told.enter("g", 1);
    told.leave("g", 8);
    told.leave(caller, 10);
  }
  EXPECT_EQ(told.row("g<f"), (Row{2, 0, 14, 14}));
  EXPECT_EQ(told.row("g<h"), (Row{1, 0, 7, 7}));
  EXPECT_EQ(told.row("f<"), (Row{2, 0, 6, 20}));
}

TEST(Profile, OfARecursionTheOutermostCountsForTheTotal) {
  Told told;
  told.enter("f", 0);
  told.enter("f", 10);
  told.enter("f", 20);
  told.leave("f", 30);
  told.leave("f", 40);
  told.leave("f", 50);
  EXPECT_EQ(told.row("f"), (Row{3, 2, 50, 50}));
  EXPECT_EQ(told.row("f<"), (Row{1, 0, 20, 50}));
  // Called by itself at 10 and, inside that, at 20.
  EXPECT_EQ(told.row("f<f"), (Row{2, 1, 30, 30}));
}

TEST(Profile, ARecursionThroughAnotherIsOne) {
  Told told;
  told.enter("even", 0);
  told.enter("odd", 1);
  told.enter("even", 2);
  told.enter("odd", 3);
  told.leave("odd", 6);
  told.leave("even", 7);
  told.leave("odd", 8);
  told.leave("even", 9);
  EXPECT_EQ(told.row("even"), (Row{2, 1, 4, 9}));
  EXPECT_EQ(told.row("odd"), (Row{2, 1, 5, 7}));
}

TEST(Profile, WhatBeganBeforeEndsUnnoticed) {
  Told told;
  told.leave("main", 5);
  told.enter("f", 10);
  told.leave("f", 11);
  told.leave("main", 12);
  EXPECT_EQ(told.row("main"), Row{});
  EXPECT_EQ(told.row("f"), (Row{1, 0, 1, 1}));
  EXPECT_EQ(told.profile().unmatched(), 0U);
}

TEST(Profile, AnEndFurtherOutEndsWhatIsInside) {
  Told told;
  told.enter("f", 0);
  told.enter("g", 10);
  told.enter("h", 20);
  told.leave("f", 30);
  EXPECT_EQ(told.row("f"), (Row{1, 0, 10, 30}));
  EXPECT_EQ(told.row("g"), (Row{1, 0, 10, 20}));
  EXPECT_EQ(told.row("h"), (Row{1, 0, 10, 10}));
  EXPECT_EQ(told.profile().unmatched(), 2U);
}

TEST(Profile, AnEndOfWhatIsNotOpenChangesNothing) {
  Told told;
  told.enter("f", 0);
  told.leave("g", 5);
  told.leave("f", 10);
  EXPECT_EQ(told.row("f"), (Row{1, 0, 10, 10}));
  EXPECT_EQ(told.row("g"), Row{});
  EXPECT_EQ(told.profile().unmatched(), 1U);
}

TEST(Profile, WhatIsOpenCountsUpToNow) {
  Told told;
  told.enter("f", 0);
  told.enter("g", 10);
  told.profile().settle(25);
  EXPECT_EQ(told.row("f"), (Row{1, 0, 10, 25}));
  EXPECT_EQ(told.row("g"), (Row{1, 0, 15, 15}));
}

TEST(Profile, PartsSumToTheWhole) {
  const auto run = [](Told& told, bool cut, std::map<std::string, Row>& sums) {
    std::uint64_t now = 0;
    const auto take = [&] {
      told.profile().settle(now);
      for (const char* name : {"f", "g", "h", "g<f", "f<f", "h<g"}) {
        const Row row = told.row(name);
        sums[name].calls += row.calls;
        sums[name].recursive += row.recursive;
        sums[name].self += row.self;
        sums[name].total += row.total;
      }
      told.profile().clear(now);
    };
    for (const char* step : {"+f", "+g", "+h", "-h", "+h", "-h", "-g", "+f", "+g", "-g", "-f", "+g",
                             "-g", "-f", "+g", "+h", "-h", "-g"}) {
      now += 7;
      if (step[0] == '+') {
        told.enter(step + 1, now);
      } else {
        told.leave(step + 1, now);
      }
      now += 3;
      if (cut) take();
    }
    if (!cut) take();
  };
  Told whole;
  Told parts;
  std::map<std::string, Row> expected;
  std::map<std::string, Row> sums;
  run(whole, false, expected);
  run(parts, true, sums);
  EXPECT_EQ(expected, sums);
  EXPECT_EQ(expected["f"].calls, 2U);
}

TEST(Profile, PartsSumToTheWholeToTheNanosecond) {
  constexpr double kRatio = 0.37;  // no part of whole nanoseconds
  const auto run = [](Told& told, bool cut, std::map<std::string, Row>& sums) {
    std::uint64_t now = 0;
    const auto end_part = [&] {
      told.profile().fold(now, kRatio, [&](const FunctionPart& part) {
        Row& sum = sums[static_cast<const char*>(part.label)];
        EXPECT_TRUE(part.calls > 0 || part.self > 0 || part.total > 0);
        sum.calls += part.calls;
        sum.self += part.self;
        sum.total += part.total;
      });
    };
    for (int round = 0; round < 50; ++round) {
      for (const char* step : {"+f", "+g", "+f", "-f", "+h", "-h", "-g", "+h", "-h", "-f"}) {
        now += 11;
        if (step[0] == '+') {
          told.enter(step + 1, now);
        } else {
          told.leave(step + 1, now);
        }
        now += 3;
        if (cut && (now / 14) % 3 == 0) end_part();
      }
    }
    end_part();
  };
  for (const bool cut : {false, true}) {
    Told told;
    std::map<std::string, Row> sums;
    run(told, cut, sums);
    std::map<std::string, Row> folded;
    told.profile().visit(
        [&](const Edge& edge) {
          Row& sum = folded[static_cast<const char*>(edge.callee->label)];
          sum.calls += edge.folded_calls;
          sum.self += edge.folded_self;
          EXPECT_EQ(edge.calls, 0U);
        },
        [&](const Function& function) {
          folded[static_cast<const char*>(function.label)].total += function.folded_total;
        });
    EXPECT_EQ(sums, folded);
    EXPECT_EQ(sums["f"].calls, 100U);
    EXPECT_EQ(sums["h"].calls, 100U);
    told.profile().forget_folded();
    told.profile().visit([](const Edge& edge) { EXPECT_EQ(edge.folded_calls, 0U); },
                         [](const Function& function) { EXPECT_EQ(function.folded_total, 0); });
  }
}

TEST(Profile, APartHasItsTimeOfACallThatGoesOn) {
  Told told;
  std::vector<FunctionPart> parts;
  const auto end_part = [&](std::uint64_t now) {
    told.profile().fold(now, 1.0, [&](const FunctionPart& part) { parts.push_back(part); });
  };
  told.enter("f", 0);
  end_part(30);
  end_part(50);
  told.leave("f", 60);
  end_part(90);
  end_part(95);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ((std::vector<std::uint64_t>{parts[0].calls, parts[1].calls, parts[2].calls}),
            (std::vector<std::uint64_t>{1, 0, 0}));
  EXPECT_EQ((std::vector<std::int64_t>{parts[0].total, parts[1].total, parts[2].total}),
            (std::vector<std::int64_t>{30, 20, 10}));
}

TEST(Profile, CallsThatTookLongAreKeptOneByOne) {
  Told told;
  Profile& profile = told.profile();
  struct Kept {
    std::string name;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool open = false;
    bool operator==(const Kept&) const = default;
  };
  const auto kept = [&profile] {
    std::vector<Kept> calls;
    profile.calls().visit([&calls](const CallLog::Call& call) {
      EXPECT_EQ(call.tid, 42);
      calls.push_back({static_cast<const char*>(call.label), call.begin, call.end, call.open});
    });
    profile.calls().clear();
    return calls;
  };
  told.enter("f", 0);
  told.leave("f", 100);  // nobody asked yet
  CallLog::begin(10);
  told.enter("f", 100);
  told.leave("f", 200);  // of a thread that is not recorded
  EXPECT_TRUE(kept().empty());
  profile.calls().belongs_to(42);
  told.enter("f", 300);
  told.enter("g", 303);
  told.enter("h", 304);
  told.leave("h", 313);  // too short
  profile.fold(315, 1.0, [](const FunctionPart& /*part*/) {});
  told.leave("g", 316);
  told.leave("f", 320);
  EXPECT_EQ(kept(), (std::vector<Kept>{{"g", 303, 316}, {"f", 300, 320}}));
  told.enter("f", 400);
  told.enter("g", 495);
  profile.log_open(500);
  EXPECT_EQ(kept(), (std::vector<Kept>{{"f", 400, 500, true}}));
  // After a fork calls count from there.
  profile.clear(600);
  told.leave("g", 605);
  told.leave("f", 700);
  EXPECT_EQ(kept(), (std::vector<Kept>{{"f", 600, 700}}));
  CallLog::stop();
}

TEST(Profile, CallsThatThereIsNoRoomForAreCounted) {
  MemoryLimit::set(std::size_t{1} << 30U);
  CallLog log;
  log.belongs_to(1);
  for (std::size_t call = 0; call < CallLog::kMost + 5000; ++call) log.add("f", call, call + 1);
  std::size_t kept = 0;
  log.visit([&kept](const CallLog::Call&) { ++kept; });
  EXPECT_LE(kept, CallLog::kMost);
  EXPECT_EQ(kept + log.lost(), CallLog::kMost + 5000);
  log.clear();
  EXPECT_EQ(log.lost(), 0U);
}

TEST(Profile, AfterAForkWhatIsOpenStaysOpenAndCountsFromThere) {
  Told told;
  told.enter("f", 0);
  told.enter("g", 10);
  told.profile().clear(100);
  told.leave("g", 130);
  told.leave("f", 150);
  EXPECT_EQ(told.row("g"), (Row{0, 0, 30, 30}));
  EXPECT_EQ(told.row("f"), (Row{0, 0, 20, 50}));
}

TEST(Profile, AnotherThreadGoesOnWithTheSums) {
  Told told;
  told.enter("f", 0);
  told.enter("f", 1);
  told.profile().abandon();
  told.enter("f", 1000);
  told.leave("f", 1010);
  // The first thread's calls never ended, and its recursion is over.
  EXPECT_EQ(told.row("f"), (Row{3, 1, 10, 10}));
}

TEST(Profile, ManyFunctionsAndDeepRecursionAreAllKept) {
  constexpr std::size_t kFunctions = 50'000;
  std::vector<int> keys(kFunctions);
  const auto label = [](const void* /*key*/, void* about) { return about; };
  MemoryLimit::set(std::size_t{1} << 30U);
  Profile& profile = new_profile();
  for (int round = 0; round < 2; ++round) {
    for (std::size_t at = 0; at < kFunctions; ++at) profile.enter(&keys[at], &keys[at], label, at);
    for (std::size_t at = kFunctions; at > 0; --at)
      profile.leave(&keys[at - 1], 2 * kFunctions - at);
  }
  std::size_t edges = 0;
  profile.visit([&](const Edge& edge) { edges += static_cast<std::size_t>(edge.calls == 2); },
                [](const Function& /*function*/) {});
  EXPECT_EQ(edges, kFunctions);
  EXPECT_EQ(profile.lost_calls(), 0U);
  EXPECT_EQ(profile.unmatched(), 0U);
}

TEST(Profile, CallsThatMemoryDoesNotSufficeForAreCounted) {
  constexpr std::uint64_t kCalls = 3000;
  std::vector<int> keys(kCalls);
  const auto label = [](const void* /*key*/, void* about) { return about; };
  // Nothing at all; the stack alone; some of the functions.
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8} << 10U, std::size_t{80} << 10U}) {
    MemoryLimit::set(bytes);
    Profile& profile = new_profile();
    std::uint64_t now = 0;
    for (std::uint64_t at = 0; at < kCalls; ++at) {
      profile.enter(keys.data(), keys.data(), label, ++now);
      profile.enter(&keys[at], &keys[at], label, ++now);
      profile.leave(&keys[at], ++now);
      profile.leave(keys.data(), ++now);
    }
    std::uint64_t recorded = 0;
    profile.visit(
        [&](const Edge& edge) {
          if (edge.callee != &profile.lost()) recorded += edge.calls;
        },
        [](const Function& /*function*/) {});
    EXPECT_GT(profile.lost_calls(), 0U);
    EXPECT_EQ(recorded + profile.lost_calls(), 2 * kCalls) << bytes;
    EXPECT_EQ(recorded > 0, bytes > (std::size_t{8} << 10U)) << bytes;
  }
  MemoryLimit::set(std::size_t{256} << 20U);
}

TEST(Profile, AFunctionWithoutALabelIsLostNotForgotten) {
  MemoryLimit::set(std::size_t{1} << 20U);
  const auto none = [](const void* /*key*/, void* /*about*/) -> void* { return nullptr; };
  Profile& profile = new_profile();
  const int key = 0;
  profile.enter(&key, nullptr, none, 0);
  profile.leave(&key, 5);
  EXPECT_EQ(profile.lost_calls(), 1U);
  std::int64_t self = 0;
  profile.visit([&](const Edge& edge) { self += edge.self; }, [](const Function& /*f*/) {});
  EXPECT_EQ(self, 5);
  // It is counted once, with the part that it began in.
  EXPECT_EQ(profile.folded_lost_calls(), 0U);
  profile.fold(6, 1.0, [](const FunctionPart& /*part*/) {});
  EXPECT_EQ(profile.folded_lost_calls(), 1U);
  profile.forget_folded();
  EXPECT_EQ(profile.lost_calls(), 0U);
}

}  // namespace
}  // namespace fathom::python
