// One process for each allocation: what fails in one run says nothing of the next.
#include "tests/programs/starved.h"

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::test {
namespace {

/// A file that the program maps, and we too.
class Report {
 public:
  explicit Report(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(file, sizeof(StarvingReport)), 0);
    memory_ = mmap(nullptr, sizeof(StarvingReport), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    close(file);
  }
  ~Report() { munmap(memory_, sizeof(StarvingReport)); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  [[nodiscard]] const StarvingReport& operator*() const {
    return *static_cast<const StarvingReport*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

/// What the files of one process hold: how often each thing, by its name.
struct Content {
  std::map<std::string, std::size_t> things;
  bool says_that_something_is_lost = false;
};
/// By the process' role.
using Contents = std::map<std::string, Content>;

void add(const Recorded& recorded, Content& content) {
  auto& things = content.things;
  for (const RecordedSlice& slice : recorded.slices) ++things["slice " + slice.name];
  for (const RecordedSlice& slice : recorded.begun) ++things["slice " + slice.name];
  for (const RecordedSlice& activity : recorded.devices) ++things["device " + activity.name];
  for (const RecordedSlice& call : recorded.calls) ++things["call " + call.name];
  for (const RecordedSlice& instant : recorded.instants) ++things["instant " + instant.name];
  for (const RecordedSample& sample : recorded.samples) ++things["sample " + sample.counter];
  for (const auto& [tid, name] : recorded.threads) things["thread " + name] = 1;
  for (const auto& [key, value] : recorded.facts) things["fact " + key] = 1;
  if (recorded.dropped > 0 || recorded.facts.contains("WARNING") ||
      recorded.facts.contains("not_recorded.cuda.0.what"))
    content.says_that_something_is_lost = true;
}

/// What is in the one and not in the other, for the message.
std::string missing(const Content& whole, const Content& part) {
  std::string text;
  for (const auto& [name, count] : whole.things) {
    const auto found = part.things.find(name);
    const std::size_t there = found == part.things.end() ? 0 : found->second;
    if (there < count)
      text += "\n  " + name + ": " + std::to_string(there) + " of " + std::to_string(count);
  }
  return text;
}

struct Outcome {
  int status = -1;
  std::uint64_t allocations = 0;
  std::uint64_t failed = 0;
  std::string damage;
  Contents contents;
};

/// `at` 0: nothing fails.
Outcome run(const std::string& program, Environment environment, std::uint64_t at, bool all) {
  const Folder folder;
  const Folder beside;
  const Report report(beside.path() + "/report");
  environment["FATHOM_SESSION"] = folder.path();
  environment["STARVE_REPORT"] = beside.path() + "/report";
  environment["STARVE_AT"] = std::to_string(at);
  if (all) environment["STARVE_ALL"] = "1";
  Outcome outcome;
  outcome.status = wait_for(start_program(program, {}, environment));
  outcome.allocations = (*report).allocations;
  outcome.failed = (*report).failed;
  for (const std::string& path : folder.files()) {
    const Recorded recorded = read_file(path);
    outcome.damage += recorded.damage;
    add(recorded, outcome.contents[recorded.roles.empty() ? "?" : recorded.roles.front()]);
  }
  return outcome;
}

/// False after a failure that the next runs would only repeat. A process may have no file at all.
bool check(const Outcome& outcome, const Contents& whole, Expect expect) {
  const bool ended = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == kStarvedExit;
  EXPECT_TRUE(ended) << "status " << outcome.status;
  EXPECT_EQ(outcome.damage, "");
  if (expect != Expect::losses_said) return ended;
  bool silent = false;
  for (const auto& [role, content] : outcome.contents) {
    const auto expected = whole.find(role);
    const std::string lacks =
        expected == whole.end() ? "\n  its process" : missing(expected->second, content);
    if (lacks.empty() || content.says_that_something_is_lost) continue;
    silent = true;
    ADD_FAILURE() << "the file of " << role << " lacks, and does not say so:" << lacks;
  }
  return ended && !silent;
}

}  // namespace

void expect_to_survive_starving(const std::string& program, const Environment& environment,
                                Expect expect) {
  const Outcome fed = run(program, environment, 0, false);
  const Contents whole = fed.contents;
  ASSERT_TRUE(check(fed, whole, expect));
  ASSERT_EQ(whole.empty(), expect == Expect::no_files);
  ASSERT_GT(fed.allocations, 0U);
  // They wait more than they compute.
  constexpr std::uint64_t kAtOnce = 4;
  for (const bool all : {false, true}) {
    bool over = false;
    for (std::uint64_t first = 1; !over; first += kAtOnce) {
      std::vector<std::future<Outcome>> runs;
      for (std::uint64_t at = first; at < first + kAtOnce; ++at)
        runs.push_back(std::async(std::launch::async, run, program, environment, at, all));
      for (std::uint64_t at = first; std::future<Outcome> & each : runs) {
        SCOPED_TRACE("allocation " + std::to_string(at++) + (all ? " and all later ones" : ""));
        const Outcome outcome = each.get();
        if (!check(outcome, whole, expect)) return;
        over = over || outcome.failed == 0;
      }
    }
  }
}

}  // namespace fathom::test
