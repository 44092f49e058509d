// Python's functions in the place of the interpreter's.
#include "sample/native/mixed_stack.h"

#include <string>

#include <gtest/gtest.h>

namespace fathom::sample::native {
namespace {

/// A letter for each call, the innermost first: E is the interpreter's loop.
CallNames calls(const std::string& letters, bool whole = true) {
  CallNames names;
  names.whole = whole;
  for (const char letter : letters) {
    names.looks.push_back({.function = std::string(1, letter), .file = {}, .line = {}});
    names.evaluator.push_back(letter == 'E');
  }
  return names;
}

std::vector<FrameLook> python(const std::string& letters) {
  std::vector<FrameLook> looks;
  for (const char letter : letters)
    looks.push_back({.function = std::string(1, letter), .file = "a.py", .line = 1});
  return looks;
}

std::string text(const MixedStack& stack) {
  std::string text;
  for (const FrameLook& look : stack.frames)
    text += look.function.size() == 1 ? look.function : "?";
  return text;
}

using Runs = std::vector<std::size_t>;

TEST(MixedStack, PutsWhatEachLoopRunsInItsPlace) {
  const MixedStack mixed = mix(calls("cEdEm"), python("pqrs"), Runs{1, 3});
  EXPECT_EQ(mixed.join, Join::joined);
  EXPECT_EQ(text(mixed), "cpdqrsm");
}

TEST(MixedStack, LeavesNativeFunctionsWhereTheLoopsAreOfAnotherNumber) {
  const MixedStack mixed = mix(calls("cEdEm"), python("pq"), Runs{2});
  EXPECT_EQ(mixed.join, Join::unmatched);
  EXPECT_EQ(text(mixed), "cEdEm");
  EXPECT_EQ(mix(calls("cEm"), {}, Runs{}).join, Join::unmatched);
  EXPECT_EQ(mix(calls("cm"), python("p"), Runs{1}).join, Join::unmatched);
}

TEST(MixedStack, OnlyOtherFilesThanTheInterpretersTellMore) {
  const auto in = [](const std::string& letters, const std::vector<std::string>& files) {
    CallNames names = calls(letters);
    for (std::size_t i = 0; i < files.size(); ++i) names.looks[i].file = files[i];
    return names;
  };
  const std::string libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  const std::string python = "/usr/lib/libpython3.11.so.1.0";
  EXPECT_FALSE(tells_more(in("ncEm", {libc, python, python, libc})));
  EXPECT_FALSE(tells_more(in("vcEm", {"[vdso]", "", python, libc})));
  EXPECT_TRUE(tells_more(in("nsEm", {libc, "/opt/lib-dynload/_socket.so", python, libc})));
  EXPECT_TRUE(tells_more(in("nd", {libc, "/opt/libblas.so"})));
  // A program that has Python within calls it; its own functions are the interpreter's file.
  EXPECT_FALSE(tells_more(in("ncEm", {libc, "/opt/app", "/opt/app", "/opt/app"})));
  EXPECT_TRUE(tells_more(in("ncEm", {libc, python, python, "/opt/app"})));
  EXPECT_FALSE(tells_more({}));
}

TEST(MixedStack, IsNativeWithoutPython) {
  const MixedStack mixed = mix(calls("abm"), {}, Runs{});
  EXPECT_EQ(mixed.join, Join::native);
  EXPECT_EQ(text(mixed), "abm");
}

TEST(MixedStack, TellsWhereOuterFunctionsAreMissing) {
  EXPECT_EQ(text(mix(calls("ab", false), {}, Runs{})), "ab?");
  // Python's stack has the rest.
  const MixedStack mixed = mix(calls("cEd", false), python("pqr"), Runs{1, 2});
  EXPECT_EQ(mixed.join, Join::joined);
  EXPECT_EQ(text(mixed), "cpdqr");
}

/// A letter for each call, the innermost first: E is the interpreter's loop, small letters are its
/// own functions, large ones those of other files, S is the start of the program.
CallNames calls_by_file(const std::string& letters, bool whole = true) {
  CallNames names = calls(letters, whole);
  for (FrameLook& look : names.looks) {
    const char letter = look.function.front();
    const bool own = letter == 'E' || (letter >= 'a' && letter <= 'z');
    look.file = own ? "/lib/libpython3.11.so" : letter == 'S' ? "/lib/libc.so.6" : "/app/ext.so";
  }
  return names;
}

TEST(BelowPython, HasWhatPythonCallsWithoutTheInterpretersOwn) {
  const MixedStack mixed = below_python(calls_by_file("XaEbYcEdS"), python("pqrs"), Runs{1, 3});
  EXPECT_EQ(mixed.join, Join::joined);
  EXPECT_EQ(text(mixed), "XpYqrs");
}

TEST(BelowPython, HasWhatCallsTheInterpreterWithinAProgram) {
  EXPECT_EQ(text(below_python(calls_by_file("XEaMS"), python("p"), Runs{1})), "XpMS");
}

TEST(BelowPython, HasPythonsFunctionsAloneWhereTheTwoDoNotMatch) {
  const MixedStack mixed = below_python(calls_by_file("XEbEdS"), python("pq"), Runs{2});
  EXPECT_EQ(mixed.join, Join::unmatched);
  EXPECT_EQ(text(mixed), "pq");
  EXPECT_EQ(text(below_python(calls_by_file("X"), python("p"), Runs{1})), "p");
}

TEST(BelowPython, HasThePythonThatIsBehindWhereNativeCallsEnd) {
  EXPECT_EQ(text(below_python(calls_by_file("XE", false), python("pqr"), Runs{1, 2})), "Xpqr");
}

TEST(BelowPython, HasNativeCallsThatEndBeforeTheLoopBelowTheInnermostOfPython) {
  const MixedStack mixed = below_python(calls_by_file("XaY", false), python("pq"), Runs{1, 1});
  EXPECT_EQ(mixed.join, Join::joined);
  EXPECT_EQ(text(mixed), "XYpq");
  // Of no Python at all, as they are.
  EXPECT_EQ(text(below_python(calls_by_file("XY", false), {}, Runs{})), "XY?");
}

TEST(BelowPython, LeavesThreadsWithoutPythonAsTheyAre) {
  EXPECT_EQ(text(below_python(calls_by_file("XYS"), {}, Runs{})), "XYS");
}

TEST(MixedStack, CountsWhatEachLoopRuns) {
  const auto frame = [](bool entry) {
    Frame one;
    one.entry = entry;
    return one;
  };
  const std::vector<Frame> frames = {frame(false), frame(true), frame(true), frame(false)};
  EXPECT_EQ(evaluator_runs(frames), (Runs{2, 1, 1}));
  EXPECT_EQ(evaluator_runs({}), Runs{});
}

}  // namespace
}  // namespace fathom::sample::native
