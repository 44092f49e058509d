#include "capture/launcher/session_folder.h"

#include <gtest/gtest.h>

#include "capture/launcher/not_recorded.h"

namespace fathom::capture {
namespace {

TEST(SessionFolder, ARunIsNamedAfterItsScript) {
  EXPECT_EQ(name_of({"python", "train.py", "--x"}), "train");
  EXPECT_EQ(name_of({"/usr/bin/python3.11", "-u", "-W", "ignore", "src/train.py"}), "train");
  EXPECT_EQ(name_of({"python", "-m", "package.module", "x.py"}), "package.module");
  EXPECT_EQ(name_of({"python", "-c", "print(1)"}), "python-c");
  EXPECT_EQ(name_of({"torchrun", "--nproc-per-node", "2", "train.py"}), "train");
  EXPECT_EQ(name_of({"./build/my app", "--fast"}), "my-app");
  EXPECT_EQ(name_of({"../.."}), "run");
}

TEST(Limits, SwitchesThatKeepTheHookOutAreSeen) {
  EXPECT_EQ(switch_against_hook({"python", "-I", "x.py"}), "-I");
  EXPECT_EQ(switch_against_hook({"python3", "-uE", "x.py"}), "-E");
  EXPECT_EQ(switch_against_hook({"python3", "-W", "ignore", "-S", "x.py"}), "-S");
  EXPECT_EQ(switch_against_hook({"python", "x.py", "-I"}), "");
  EXPECT_EQ(switch_against_hook({"python", "-c", "pass", "-I"}), "");
  EXPECT_EQ(switch_against_hook({"./tool", "-I"}), "");
}

}  // namespace
}  // namespace fathom::capture
