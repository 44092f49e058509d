// What the recorder of Python keeps of a thread, where memory runs out: every call and every line
// is in a sum, or among those that are counted as lost.
#include <array>
#include <cstddef>
#include <cstdint>

#include "capture/python/call_log.h"
#include "capture/python/line_profile.h"
#include "capture/python/line_table.h"
#include "capture/python/memory_limit.h"
#include "capture/python/profile.h"
#include "tests/programs/starved.h"
#include "tests/programs/starving.h"

namespace {

using fathom::python::add_line_table;
using fathom::python::CallLog;
using fathom::python::Edge;
using fathom::python::Function;
using fathom::python::LineProfile;
using fathom::python::LineTable;
using fathom::python::LineTimeline;
using fathom::python::MemoryLimit;
using fathom::python::Profile;
using fathom::python::ThreadCode;

constexpr std::size_t kFunctions = 1500;  // more than a few chunks hold
constexpr std::size_t kDeep = 600;        // more than the first stack holds
constexpr std::size_t kCodes = 40;
constexpr std::size_t kRounds = 40;

// As large as they are, and for as long as the program, as in an interpreter.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
Profile profile;
LineProfile lines;
std::array<char, kFunctions> functions{};
std::array<PyObject, kCodes> codes{};
std::array<const LineTable*, kCodes> tables{};
std::uint64_t now = 0;
std::uint64_t calls = 0;
std::uint64_t begun = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void* label(const void* /*key*/, void* about) { return about; }

void enter(std::size_t function) {
  char& each = functions[function];
  profile.enter(&each, &each, label, ++now);
  ++calls;
}
void leave(std::size_t function) { profile.leave(&functions[function], ++now); }

void call_all() {
  enter(0);
  for (std::size_t i = 1; i < kFunctions; ++i) {
    enter(i);
    leave(i);
  }
  leave(0);
  for (std::size_t i = 0; i < kDeep; ++i) enter(i);
  for (std::size_t i = kDeep; i > 0; --i) leave(i - 1);
}

/// A call is in a sum of its function or counted as lost; one that was followed to its end is in
/// the log or counted there.
bool calls_add_up() {
  std::uint64_t known = 0;
  std::uint64_t followed = 0;
  profile.visit(
      [&](const Edge& edge) {
        followed += edge.calls;
        if (edge.callee != &profile.lost()) known += edge.calls;
      },
      [](const Function&) {});
  std::uint64_t logged = 0;
  profile.calls().visit([&](const CallLog::Call&) { ++logged; });
  return known + profile.lost_calls() == calls && profile.unmatched() == 0 &&
         logged + profile.calls().lost() == followed;
}

/// Two statements, of a line each from line 1 on.
void make_tables() {
  constexpr std::array<std::uint16_t, 2> kLines = {1, 2};
  constexpr std::array<std::uint16_t, 2> kLengths = {1, 1};
  for (std::size_t i = 0; i < kCodes; ++i)
    tables[i] = add_line_table(&codes[i], 1, kLines.data(), kLines.size(), kLengths.data(), 2, 0);
}

void line(const LineTable& table, long number) {
  lines.line(table.code, number, ++now);
  ++begun;
}

/// One that calls another, to the depth of all that there are tables of.
void run(std::size_t code) {
  while (code < kCodes && tables[code] == nullptr) ++code;
  if (code == kCodes) return;
  const LineTable& table = *tables[code];
  lines.enter(table, 0, ++now);
  line(table, 1);
  run(code + 1);
  line(table, 2);
  lines.leave(table.code, ++now);
}

bool lines_add_up() {
  std::uint64_t hits = 0;
  lines.visit([&](const ThreadCode& code) {
    for (unsigned at = 1; at <= code.table->statements; ++at) hits += code.sums[at].hits;
  });
  std::uint64_t length = 0;
  lines.timeline().visit(now, [&](const LineTimeline::Run& run) { length += run.end - run.begin; });
  return hits + lines.lost() == begun && lines.unmatched() == 0 && length <= now;
}

}  // namespace

int main() {
  MemoryLimit::set(std::size_t{1} << 30U);
  CallLog::begin(0);
  LineTimeline::turn(true);
  profile.calls().belongs_to(1);
  lines.belongs_to(1);
  fathom::test::starve();
  call_all();
  make_tables();
  for (std::size_t round = 0; round < kRounds; ++round) run(0);
  if (!calls_add_up()) return 1;
  return lines_add_up() ? fathom::test::kStarvedExit : 2;
}
