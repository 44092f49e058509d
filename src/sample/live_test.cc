// Programs with known stacks, under each CPython that is found here.
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample/alongside.h"
#include "sample/canary.h"
#include "sample/mappings.h"
#include "sample/process_look.h"
#include "sample/runtime.h"
#include "sample/sampler.h"
#include "sample/stack_sums.h"
#include "sample/thread_list.h"

namespace fathom::sample {
namespace {

/// CPython 3.8 to 3.14: FATHOM_STACK_PYTHONS (separated by colons), else those of pyenv and of the
/// system.
std::vector<std::string> interpreters() {
  std::vector<std::string> found;
  if (const char* const chosen = std::getenv("FATHOM_STACK_PYTHONS")) {
    std::stringstream list(chosen);
    for (std::string each; std::getline(list, each, ':');) found.push_back(each);
    return found;
  }
  const char* const home = std::getenv("HOME");
  for (int minor = 8; minor <= 14 && home != nullptr; ++minor) {
    const std::string begin = "3." + std::to_string(minor) + ".";
    std::error_code error;
    for (const auto& folder :
         std::filesystem::directory_iterator(std::string(home) + "/.pyenv/versions", error)) {
      const std::string python = folder.path().string() + "/bin/python3";
      if (folder.path().filename().string().starts_with(begin) && access(python.c_str(), X_OK) == 0)
        found.push_back(python);
    }
  }
  if (access("/usr/bin/python3", X_OK) == 0) found.emplace_back("/usr/bin/python3");
  return found;
}

/// A program of tests/programs/stacks, ended with this.
class Program {
 public:
  Program(const std::string& python, const std::string& script,
          const std::vector<std::string>& arguments = {}) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (pipe(in.data()) != 0 || pipe(out.data()) != 0) return;
    const std::string path = std::string(FATHOM_SOURCE_DIR) + "/tests/programs/stacks/" + script;
    std::vector<const char*> words{python.c_str(), path.c_str()};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    words.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
      execv(words[0], const_cast<char* const*>(words.data()));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    read_lines(out[0]);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (in_ >= 0) close(in_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Sends it a line.
  void tell() const { EXPECT_EQ(write(in_, "\n", 1), 1); }
  /// What it printed, up to an empty line.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The number behind a name that it printed.
  [[nodiscard]] pid_t number(const std::string& name) const {
    for (const std::string& line : lines_) {
      if (line.starts_with(name + " ")) return std::atoi(line.c_str() + name.size() + 1);
    }
    return -1;
  }

 private:
  void read_lines(int end) {
    FILE* const file = fdopen(end, "r");
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr) {
      std::string text(line.data());
      if (text == "\n") break;
      text.pop_back();
      lines_.push_back(std::move(text));
    }
    std::fclose(file);
  }
  pid_t pid_ = -1;
  int in_ = -1;
  std::vector<std::string> lines_;
};

/// "Sleeper.method" of 3.11 is "method" before.
std::string short_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// Where the script says this first.
int line_with(const std::string& text) {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + "/tests/programs/stacks/waiting.py");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(text) != std::string::npos) return number;
  }
  return -1;
}

/// The functions of the script, the innermost first.
std::string functions_of(const ThreadLook& thread) {
  std::string text;
  for (const FrameLook& frame : thread.frames) {
    if (!frame.file.ends_with("waiting.py") && !frame.file.ends_with("busy.py")) continue;
    text += (text.empty() ? "" : " ") + short_name(frame.function);
  }
  return text;
}

bool all_wait(const ProcessLook& look) {
  return std::ranges::all_of(look.threads, [](const ThreadLook& thread) {
    const bool at_barrier = std::ranges::any_of(thread.frames, [](const FrameLook& frame) {
      return short_name(frame.function) == "started";
    });
    return thread.wait.kind != WaitKind::none && thread.gil == GilState::none && !at_barrier;
  });
}

class Live : public testing::TestWithParam<std::string> {};

TEST_P(Live, ThreadsThatWaitHaveTheirStacksAndWhatTheyWaitFor) {
  const Program program(GetParam(), "waiting.py");
  Result<ProcessLook> look = look_at(program.pid());
  // Each still has to go from the barrier to where it waits.
  for (int again = 0; again < 10000 && look && !all_wait(*look); ++again)
    look = look_at(program.pid());
  ASSERT_TRUE(look) << look.error().message;
  EXPECT_EQ((*look).reason, "");
  EXPECT_EQ((*look).threads.size(), 6U);
  const auto thread_of = [&](const std::string& name) {
    const auto found = std::ranges::find((*look).threads, program.number(name),
                                         [](const ThreadLook& thread) { return thread.task.id; });
    EXPECT_NE(found, (*look).threads.end()) << name;
    return found == (*look).threads.end() ? ThreadLook{} : *found;
  };
  const std::map<std::string, std::pair<std::string, WaitKind>> expected = {
      {"main", {"<module>", WaitKind::file}},
      {"recursion", {"recursion recursion recursion recursion <lambda>", WaitKind::lock}},
      {"generator", {"inner outer generator", WaitKind::lock}},
      {"sleep", {"method <lambda>", WaitKind::sleep}},
      {"callback", {"called_back callback", WaitKind::lock}},
      {"pipe", {"pipe", WaitKind::file}},
  };
  for (const auto& [name, truth] : expected) {
    const ThreadLook thread = thread_of(name);
    EXPECT_EQ(functions_of(thread), truth.first) << name;
    EXPECT_EQ(thread.stack, StackState::whole) << name;
    EXPECT_EQ(thread.wait.kind, truth.second) << name << " " << thread.wait.call;
    EXPECT_TRUE(thread.python);
    EXPECT_EQ(thread.gil, GilState::none) << name;
  }
  const ThreadLook pipe = thread_of("pipe");
  ASSERT_EQ(pipe.wait.objects.size(), 1U);
  EXPECT_TRUE(pipe.wait.objects[0].starts_with("pipe:[")) << pipe.wait.objects[0];
  ASSERT_FALSE(pipe.frames.empty());
  EXPECT_EQ(pipe.frames[0].line, line_with("os.read(out"));
  EXPECT_EQ(thread_of("recursion").frames[0].line, line_with("        lock.acquire()"));
  EXPECT_EQ(thread_of("recursion").frames[1].line, line_with("recursion(depth - 1)"));
}

TEST_P(Live, OfTwoThreadsThatWorkOneHasTheGil) {
  const Program program(GetParam(), "busy.py");
  int holders = 0;
  int waiters = 0;
  constexpr int kLooks = 20;
  for (int look = 0; look < kLooks; ++look) {
    const Result<ProcessLook> looked = look_at(program.pid());
    ASSERT_TRUE(looked) << looked.error().message;
    for (const ThreadLook& thread : (*looked).threads) {
      holders += thread.gil == GilState::holds ? 1 : 0;
      waiters += thread.gil == GilState::waits ? 1 : 0;
    }
  }
  // While it passes from one to the other nobody has it.
  EXPECT_GE(holders, 1);
  EXPECT_LE(holders, kLooks);
  EXPECT_GE(waiters, 1);
}

TEST_P(Live, AStoppedProcessIsRead) {
  const Program program(GetParam(), "busy.py");
  kill(program.pid(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(program.pid(), &status, WUNTRACED), program.pid());
  const Result<ProcessLook> look = look_at(program.pid());
  ASSERT_TRUE(look) << look.error().message;
  ASSERT_EQ((*look).threads.size(), 2U);
  for (const ThreadLook& thread : (*look).threads) {
    EXPECT_EQ(thread.task.state, 'T');
    EXPECT_EQ(thread.stack, StackState::whole);
    EXPECT_TRUE(functions_of(thread).starts_with("work"));
  }
}

TEST_P(Live, EveryInstructionHasTheLineThatPythonSays) {
  const Program program(GetParam(), "lines.py");
  int error = 0;
  const auto mappings = read_mappings(program.pid(), error);
  ASSERT_TRUE(mappings);
  const ProcessMemory memory(program.pid());
  const Result<Runtime> runtime = find_runtime(program.pid(), memory, *mappings);
  ASSERT_TRUE(runtime) << runtime.error().message;
  CodeTable codes(memory, (*runtime).layout);
  const Code* code = nullptr;
  int compared = 0;
  for (const std::string& line : program.lines()) {
    std::stringstream words(line);
    std::string first;
    words >> first;
    if (first == "code") {
      Address address = 0;
      int first_line = 0;
      std::string name;
      words >> address >> first_line >> name;
      code = codes.find(address);
      ASSERT_NE(code, nullptr) << line;
      EXPECT_EQ(code->first_line, first_line);
      EXPECT_EQ(code->name, name);
      EXPECT_TRUE(code->file.ends_with("lines.py"));
      continue;
    }
    int truth = 0;
    words >> truth;
    EXPECT_EQ(code->line((*runtime).layout, std::stoi(first)).value_or(-1), truth)
        << code->name << " " << line;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

/// A reader of the main thread of a program.
struct Reader {
  explicit Reader(pid_t pid) : memory(pid) {
    int error = 0;
    const auto mappings = read_mappings(pid, error);
    Result<Runtime> found = find_runtime(pid, memory, mappings.value_or(std::vector<Mapping>{}));
    if (!found) return;
    runtime = std::move(*found);
    const ThreadList list = read_threads(memory, *runtime, {pid});
    if (list.threads.empty()) return;
    codes.emplace(memory, runtime->layout);
    stacks.emplace(memory, runtime->layout, *codes, list.threads[0].address,
                   list.threads[0].interpreter);
  }
  ProcessMemory memory;
  std::optional<Runtime> runtime;
  std::optional<CodeTable> codes;
  std::optional<StackReader> stacks;
};

/// What is wrong with a stack of changing.py; empty: nothing.
std::string impossible(const Stack& stack, const Layout& layout,
                       const std::set<std::string>& edges) {
  const std::vector<Frame>& frames = stack.frames;
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
    const Frame& outer = frames[i + 1];
    if (outer.code->file != "<changing>") break;
    const std::string edge =
        short_name(outer.code->name) + " " +
        std::to_string(outer.code->line(layout, outer.instruction).value_or(-1)) + " " +
        short_name(frames[i].code->name);
    if (!edges.contains(edge)) return edge;
  }
  const bool rooted = !frames.empty() && frames.back().code->name == "<module>";
  return frames.empty() || rooted ? "" : "begins with " + frames.back().code->name;
}

void spin(int sample) {
  [[maybe_unused]] static volatile int sink = 0;
  for (int pause = sample * 37 % 50 * 200; pause > 0; --pause) sink = pause;
}

/// FATHOM_STACK_SAMPLES: how many stacks are read of each interpreter; some hundred otherwise.
TEST_P(Live, NoStackIsImpossibleAndNoneIsLost) {
  const char* const wanted = std::getenv("FATHOM_STACK_SAMPLES");
  const int samples = wanted != nullptr ? std::atoi(wanted) : 400;
  const Program program(GetParam(), "changing.py", {"8"});
  const std::set<std::string> edges(program.lines().begin(), program.lines().end());
  ASSERT_GT(edges.size(), 20U);
  // It has printed them, but may not have begun.
  Reader reader(program.pid());
  ASSERT_TRUE(reader.stacks);
  while (reader.stacks->read().frames.size() < 3) std::this_thread::yield();
  int whole = 0;
  int shortened = 0;
  int unread = 0;
  std::map<std::string, int> wrong;
  for (int sample = 0; sample < samples; ++sample) {
    const Stack& stack = reader.stacks->read();
    whole += stack.state == StackState::whole ? 1 : 0;
    shortened += stack.state == StackState::shortened ? 1 : 0;
    unread += stack.state == StackState::unread ? 1 : 0;
    const std::string what = impossible(stack, reader.runtime->layout, edges);
    if (!what.empty()) ++wrong[what];
    // Not in step with the program.
    spin(sample);
  }
  EXPECT_EQ(whole + shortened + unread, samples);
  EXPECT_TRUE(wrong.empty()) << wrong.size() << " kinds, as " << wrong.begin()->first;
  const bool on_heap = reader.runtime->layout.on_heap();
  if (!on_heap) {
    EXPECT_GT(whole + shortened, samples / 2);
  }
  std::printf("%s: %d stacks: %d whole, %d shortened, %d unread, %zu kinds impossible\n",
              reader.runtime->version.c_str(), samples, whole, shortened, unread, wrong.size());
}

TEST_P(Live, ReadOnItsOwnProcessorEveryStackIsWhole) {
  constexpr int kSamples = 300;
  const Program program(GetParam(), "changing.py", {"8"});
  const std::set<std::string> edges(program.lines().begin(), program.lines().end());
  Reader reader(program.pid());
  ASSERT_TRUE(reader.stacks);
  Alongside alongside(program.pid(), program.pid());
  int held = 0;
  int whole = 0;
  std::map<std::string, int> wrong;
  for (int sample = 0; sample < kSamples; ++sample) {
    ASSERT_TRUE(alongside.begin());
    const Stack stack = reader.stacks->read();
    if (alongside.held()) {
      ++held;
      whole += stack.state == StackState::whole ? 1 : 0;
      const std::string what = impossible(stack, reader.runtime->layout, edges);
      if (!what.empty() && stack.frames.size() > 2) ++wrong[what];
    }
    alongside.end();
    spin(sample);
  }
  EXPECT_TRUE(wrong.empty()) << wrong.begin()->first;
  EXPECT_GT(held, kSamples / 10);
  // C code that just enters Python may be met before it has written down which frame is the first.
  EXPECT_GE(whole, held * 95 / 100);
}

TEST_P(Live, TheWeightsOfAllStacksAreTheSchedulersTime) {
  const Program program(GetParam(), "work.py", {"5", "1000"});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const std::int64_t before = read_tasks(program.pid()).front().on_cpu.value_or(0);
  std::int64_t ran = 0;
  while (ran < 20'000'000) {
    (*sampler)->look();
    ran = read_tasks(program.pid()).front().on_cpu.value_or(0) - before;
  }
  (*sampler)->look();
  (*sampler)->finish();
  const std::int64_t after = read_tasks(program.pid()).front().on_cpu.value_or(0);
  // It began to count earlier than we did, and ended before we did.
  EXPECT_GE(sums.on_cpu(), ran);
  EXPECT_LE(sums.on_cpu(), after);
  std::int64_t sum = 0;
  std::int64_t in_work = 0;
  for (const WeighedStack& stack : sums.stacks()) {
    sum += stack.on_cpu;
    const bool known = std::ranges::any_of(stack.frames, [](const FrameLook& frame) {
      return frame.function == "work" || frame.function == "deep";
    });
    in_work += known || stack.state == StackState::unread ? stack.on_cpu : 0;
  }
  EXPECT_EQ(sum, sums.on_cpu());
  EXPECT_GT(in_work, sums.on_cpu() / 2);
  const StackCounts counts = (*sampler)->state().counts;
  EXPECT_GT(counts.whole + counts.shortened + counts.unread, 0);
}

TEST_P(Live, EachLookAtAThreadThatRunsHasItsStack) {
  // Many more than the kernel's clock ticks meanwhile.
  constexpr int kLooks = 100;
  const Program program(GetParam(), "work.py", {"5", "1000"});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  for (int look = 0; look < kLooks; ++look) (*sampler)->look();
  (*sampler)->finish();
  const StackCounts counts = (*sampler)->state().counts;
  EXPECT_GE(counts.whole + counts.shortened + counts.unread, kLooks * 9 / 10);
}

TEST_P(Live, AThreadThatSleepsWeighsNothing) {
  const Program program(GetParam(), "waiting.py");
  Result<ProcessLook> look = look_at(program.pid());
  for (int again = 0; again < 10000 && look && !all_wait(*look); ++again)
    look = look_at(program.pid());
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  for (int round = 0; round < 50; ++round) (*sampler)->look();
  (*sampler)->finish();
  EXPECT_EQ((*sampler)->state().rounds, 50);
  for (const WeighedStack& stack : sums.stacks()) {
    EXPECT_FALSE(std::ranges::any_of(
        stack.frames, [](const FrameLook& frame) { return frame.function.ends_with("method"); }));
  }
}

/// Sums what each thread spent, and by what it waited for.
class ThreadSums final : public SampleSink {
 public:
  void take(const ThreadSample& sample) override {
    const Spent& spent = sample.spent;
    sums[sample.thread] += spent.on_cpu + spent.queued + spent.blocked;
    if (sample.wait != nullptr) waits[sample.thread][sample.wait->kind] += spent.blocked;
  }
  std::map<pid_t, std::int64_t> sums;
  std::map<pid_t, std::map<WaitKind, std::int64_t>> waits;
};

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

TEST_P(Live, WhatAThreadSpentSumsToTheTimeForWhichItWasLookedAt) {
  const Program program(GetParam(), "waiting.py");
  Result<ProcessLook> look = look_at(program.pid());
  for (int again = 0; again < 10000 && look && !all_wait(*look); ++again)
    look = look_at(program.pid());
  ThreadSums sums;
  const std::int64_t before = clock_ns();
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const std::int64_t opened = clock_ns();
  for (int round = 0; round < 200; ++round) (*sampler)->look();
  const std::int64_t finished = clock_ns();
  (*sampler)->finish();
  const std::int64_t after = clock_ns();
  EXPECT_EQ(sums.sums.size(), 6U);
  for (const auto& [thread, sum] : sums.sums) {
    EXPECT_GE(sum, finished - opened) << thread;
    EXPECT_LE(sum, after - before) << thread;
  }
  EXPECT_GT(sums.waits[program.number("sleep")][WaitKind::sleep], 0);
  EXPECT_GT(sums.waits[program.number("pipe")][WaitKind::file], 0);
  EXPECT_GT(sums.waits[program.number("recursion")][WaitKind::lock], 0);
}

/// The functions of becoming.py on each stack that ran, the outermost first.
std::set<std::string> stacks_of(const StackSums& sums) {
  std::set<std::string> stacks;
  for (const WeighedStack& stack : sums.stacks()) {
    std::string text;
    for (const FrameLook& frame : stack.frames) {
      if (frame.file.ends_with("becoming.py")) text += " " + short_name(frame.function);
    }
    stacks.insert(text);
  }
  return stacks;
}

/// Looks until a function was met; false where it never is. At most half a minute, as on a machine
/// that has no time for the program.
bool look_until(Sampler& sampler, const StackSums& sums, const std::string& function) {
  for (int round = 0; round < 30'000; ++round) {
    sampler.look();
    for (const std::string& stack : stacks_of(sums)) {
      if (stack.ends_with(" " + function)) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_P(Live, AProgramThatBecomesAnotherIsReadAnew) {
  const Program program(GetParam(), "becoming.py", {"exec"});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  EXPECT_TRUE(look_until(**sampler, sums, "before"));
  program.tell();
  EXPECT_TRUE(look_until(**sampler, sums, "after"));
  (*sampler)->finish();
  for (const std::string& stack : stacks_of(sums)) {
    const bool both =
        stack.find(" before") != std::string::npos && stack.find(" after") != std::string::npos;
    EXPECT_FALSE(both) << stack;
  }
}

TEST_P(Live, AChildThatCCodeForkedIsRead) {
  const Program program(GetParam(), "becoming.py", {"fork-by-c"});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  program.tell();
  // Children of the one that is looked at are found by run().
  const auto both_met = [&sums] {
    const std::set<std::string> stacks = stacks_of(sums);
    return stacks.contains(" <module> in_child") && stacks.contains(" <module> in_parent");
  };
  (*sampler)->run(30'000'000'000, both_met);
  EXPECT_TRUE(both_met());
  (*sampler)->finish();
}

TEST_P(Live, AThreadOfCCodeThatCallsPythonLateIsRead) {
  const Program program(GetParam(), "becoming.py", {"late"});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  program.tell();
  EXPECT_TRUE(look_until(**sampler, sums, "late"));
  (*sampler)->finish();
}

TEST_P(Live, ThreadsThatEndWhileTheyAreReadLoseNothing) {
  const Program program(GetParam(), "becoming.py", {"threads"});
  StackSums sums;
  const std::int64_t before = clock_ns();
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  program.tell();
  EXPECT_TRUE(look_until(**sampler, sums, "brief"));
  for (int round = 0; round < 300; ++round) {
    (*sampler)->look();
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  (*sampler)->finish();
  // One interpreter at a time: no more than went by, but for what runs without the GIL.
  EXPECT_GT(sums.on_cpu(), 0);
  EXPECT_LT(sums.on_cpu(), 4 * (clock_ns() - before));
  // Every stack begins where threads begin or in the program itself.
  for (const std::string& stack : stacks_of(sums)) {
    const bool known = stack.empty() || stack.starts_with(" <module>") ||
                       stack.starts_with(" brief") || stack.starts_with(" <lambda>");
    EXPECT_TRUE(known) << stack;
  }
}

/// Looks for a second at least, and until a stack of this function was met or half a minute is
/// over.
bool canary_program_is_read(const std::string& python, const std::string& says,
                            SamplerState& state) {
  const Program program(python, "canary.py",
                        {std::string(FATHOM_SOURCE_DIR) + "/python/fathom_hook", says});
  StackSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  if (!sampler) return false;
  const std::int64_t begin = clock_ns();
  const auto met = [&sums] {
    const std::vector<WeighedStack> stacks = sums.stacks();
    return std::ranges::any_of(stacks, [](const WeighedStack& stack) {
      return std::ranges::any_of(stack.frames, [](const FrameLook& frame) {
        return short_name(frame.function) == "computes";
      });
    });
  };
  while (clock_ns() - begin < 30'000'000'000 && !met() && (*sampler)->unread().empty()) {
    (*sampler)->look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  (*sampler)->finish();
  state = (*sampler)->state();
  return met();
}

TEST_P(Live, StacksOnWhichTheHooksFunctionIsAreBelieved) {
  SamplerState state;
  EXPECT_TRUE(canary_program_is_read(GetParam(), "right", state));
  EXPECT_TRUE(state.unread.empty()) << state.unread.front();
}

TEST_P(Live, StacksOnWhichTheHooksFunctionIsNotAreRefused) {
  SamplerState state;
  EXPECT_FALSE(canary_program_is_read(GetParam(), "wrong", state));
  ASSERT_EQ(state.unread.size(), 1U);
  EXPECT_NE(state.unread.front().find("Fathom's hook"), std::string::npos) << state.unread.front();
}

TEST_P(Live, ALookAsksTheHooksFunctionToo) {
  const std::string hook = std::string(FATHOM_SOURCE_DIR) + "/python/fathom_hook";
  const Program right(GetParam(), "canary.py", {hook, "right"});
  const Result<ProcessLook> believed = look_at(right.pid());
  ASSERT_TRUE(believed) << believed.error().message;
  EXPECT_EQ((*believed).reason, "");
  EXPECT_NE((*believed).python, "");
  EXPECT_EQ(std::ranges::count((*believed).threads, true, &ThreadLook::python), 2);

  const Program wrong(GetParam(), "canary.py", {hook, "wrong"});
  const auto waits = [](const ProcessLook& look) {
    return std::ranges::any_of(
        look.threads, [](const ThreadLook& thread) { return thread.wait.kind == WaitKind::lock; });
  };
  Result<ProcessLook> refused = look_at(wrong.pid());
  // It still has to go from where it names the function to where it waits.
  for (int again = 0; again < 10000 && refused && !waits(*refused); ++again)
    refused = look_at(wrong.pid());
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_TRUE(waits(*refused)) << "what the kernel tells remains";
  EXPECT_EQ((*refused).reason, kCanaryMissed);
  EXPECT_EQ((*refused).python, "");
  EXPECT_EQ((*refused).threads.size(), 2U);
  for (const ThreadLook& thread : (*refused).threads) {
    EXPECT_FALSE(thread.python);
    EXPECT_TRUE(thread.frames.empty());
    EXPECT_EQ(thread.gil, GilState::none);
  }
}

TEST_P(Live, OfThreadsThatTakeTurnsTheOthersWaitForTheGil) {
  const Program program(GetParam(), "busy.py");
  ThreadSums sums;
  auto sampler = Sampler::open(program.pid(), {}, sums);
  ASSERT_TRUE(sampler) << sampler.error().message;
  const auto waited = [&sums] {
    std::int64_t all = 0;
    for (auto& [thread, kinds] : sums.waits) all += kinds[WaitKind::gil];
    return all;
  };
  for (int round = 0; round < 200'000 && waited() == 0; ++round) (*sampler)->look();
  EXPECT_GT(waited(), 0);
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::to_string(info.index) + info.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pythons, Live, testing::ValuesIn(interpreters()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Live);

TEST(Look, ThisProcessHasNoPython) {
  const Result<ProcessLook> look = look_at(getpid());
  ASSERT_TRUE(look) << look.error().message;
  EXPECT_EQ((*look).reason, "no CPython is in it");
  EXPECT_EQ((*look).parent, getppid());
  ASSERT_FALSE((*look).threads.empty());
}

TEST(Look, AProcessThatIsNotThereIsNotFound) {
  const Result<ProcessLook> look = look_at(0x3fffffff);
  ASSERT_FALSE(look);
  EXPECT_EQ(look.error().code, ErrorCode::not_found);
}

TEST(Look, OneThatHasEndedSaysSo) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const Result<ProcessLook> look = look_at(child);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(look) << look.error().message;
  EXPECT_TRUE((*look).reason.starts_with("it has ended")) << (*look).reason;
}

TEST(Look, TheTreeHasChildrenAndTheirs) {
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild != 0) waitpid(grandchild, nullptr, 0);
    pause();
    _exit(0);
  }
  std::vector<pid_t> tree;
  while (tree.size() < 2) tree = process_tree(child);
  ASSERT_EQ(tree.size(), 2U);
  EXPECT_EQ(tree[0], child);
  if (lists_children()) {
    EXPECT_EQ(children_of(child), std::vector{tree[1]});
  }
  for (const pid_t pid : tree) kill(pid, SIGKILL);
  waitpid(child, nullptr, 0);
  const std::vector<pid_t> ours = process_tree(getpid());
  EXPECT_EQ(ours.front(), getpid());
}

TEST(Runtime, TheVersionIsFoundInWhatSysVersionIsMadeOf) {
  using namespace std::string_literals;
  EXPECT_EQ(version_in("\0\0003.8.18 (default, May  9 2026, 01:02:03) \n[GCC 12.2.0]\0"s),
            "3.8.18");
  EXPECT_EQ(version_in("\0003.10.0rc1+ (heads/x) \n[Clang 14]\0"s), "3.10.0");
  EXPECT_EQ(version_in("\0003.8.18 (default) [MSC]\0"s), "");
  EXPECT_EQ(version_in("x3.8.18 (default) [GCC]\0"s), "");
  EXPECT_EQ(version_in("\0003.8\0 (default) [GCC]"s), "");
  EXPECT_EQ(version_in("3."), "");
  EXPECT_EQ(version_in(""), "");
}

}  // namespace
}  // namespace fathom::sample
