#include "capture/launcher/crashes.h"

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

constexpr std::string_view kText =
    "Fatal Python error: Segmentation fault\n"
    "\n"
    "Thread 0x00007f0000000001 (most recent call first):\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 324 in wait\n"
    "\n"
    "Current thread 0x00007f0000000000 (most recent call first):\n"
    "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n"
    "  File \"/home/me/my net.py\", line 12 in forward\n"
    "  File \"/home/me/train.py\", line 40 in <module>\n";

TEST(Crashes, ACrashIsNamedByItsErrorAndTheInnermostFrameOfTheProgramsOwn) {
  const Crash crash = parse_crash(kText);
  EXPECT_EQ(crash.signal, "Segmentation fault");
  EXPECT_EQ(crash.place, "my net.py:12 in forward");
}

TEST(Crashes, ACrashThatWasCutOffIsNamedAsFarAsItGoes) {
  for (std::size_t size = 0; size <= kText.size(); ++size) {
    const Crash crash = parse_crash(kText.substr(0, size));
    EXPECT_EQ(crash.signal.empty(), size <= 20) << size;
  }
  EXPECT_EQ(parse_crash("Fatal Python error: Aborted\n").place, "");
}

TEST(Crashes, ACrashInsideOfALibraryAloneIsNamedByItsInnermostFrame) {
  const Crash crash = parse_crash(
      "Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n"
      "  File \"/venv/lib/python3.11/site-packages/a.py\", line 1 in f\n"
      "  File \"/venv/lib/python3.11/site-packages/b.py\", line 2 in g\n");
  EXPECT_EQ(crash.place, "a.py:1 in f");
}

TEST(Crashes, OtherTextTellsOfNoCrash) {
  EXPECT_EQ(parse_crash("").signal, "");
  EXPECT_EQ(parse_crash("Current thread 0x1\n  File \"a.py\", line 1 in f\n").signal, "");
}

TEST(Crashes, ACrashWithoutAPlaceIsSaidWithoutOne) {
  EXPECT_EQ(sentence_of({.pid = 7, .signal = "Aborted", .place = ""}),
            "process 7 crashed: Aborted");
}

}  // namespace
}  // namespace fathom::capture
