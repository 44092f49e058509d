// waits: what threads were blocked for, and where in the program.
#include <optional>
#include <string>
#include <string_view>

#include "analysis/samples/wait_spots.h"
#include "reports/report.h"
#include "reports/sample_notes.h"

namespace fathom {
namespace waits_report {
namespace {

struct Sum {
  const Trace* trace = nullptr;
  Duration blocked{};  ///< Of all threads.
};
using Waits = ReportRows<WaitSpot, Sum>;

std::string_view function_of(const WaitSpot& spot, const Sum& sum) {
  if (spot.frame == kNoFrame) return "(no Python)";
  return sum.trace->text(sum.trace->stack_frames[spot.frame].function);
}

/// "train.py:12"; of a thread without Python its name.
std::string location_of(const WaitSpot& spot, const Sum& sum) {
  if (spot.frame == kNoFrame) return std::string(sum.trace->text(spot.thread));
  const StackFrame& frame = sum.trace->stack_frames[spot.frame];
  std::string location(sum.trace->text(frame.file));
  if (frame.line >= 0) location += ":" + std::to_string(frame.line);
  return location;
}

std::optional<std::string_view> object_of(const WaitSpot& spot, const Sum& sum) {
  const std::string_view object = sum.trace->text(spot.object);
  if (object.empty()) return {};
  return object;
}

constexpr Waits::Column kColumns[] = {
    {"waits_for", ColumnKind::name, "",
     "gil, lock, threads (their end, an item of a queue, a result), child, sleep, file, loop (an "
     "event loop without anything to do) or other.",
     [](const WaitSpot& spot) { return to_string(spot.wait); }},
    {"object", ColumnKind::name, "",
     "The file, pipe, socket or process, else the system call; empty where there are several.",
     by<object_of>},
    {"function", ColumnKind::name, "",
     "The program's own function that waited, or that called what waited: the one that waited "
     "longest.",
     by<function_of>},
    {"location", ColumnKind::name, "", "Its file and line; without Python the thread's name.",
     by<location_of>},
    {"blocked_ns", ColumnKind::duration_ns, "ns",
     "For how long threads were blocked so; waits of several threads add up.",
     [](const WaitSpot& spot) { return spot.blocked; }},
    {"blocked_percent", ColumnKind::percent, "percent",
     "The same, of the time for which all threads were blocked.",
     [](const WaitSpot& spot, const Sum& sum) { return percent_of(spot.blocked, sum.blocked); }},
    {"threads", ColumnKind::count, "",
     "How many threads were met waiting so; waits that no look met are in the row of other.",
     [](const WaitSpot& spot) { return spot.threads; }},
    {"samples", ColumnKind::count, "", "How many samples these are sums of.",
     [](const WaitSpot& spot) { return spot.samples; }},
};

constexpr std::string_view kGroupBy[] = {"place", "object", "cause"};

WaitBy group_of(std::string_view choice) {
  if (choice == "object") return WaitBy::object;
  return choice == "cause" ? WaitBy::cause : WaitBy::place;
}

Result<Waits> compute(const Context& context) {
  const StackRoles roles(context.trace);
  Waits waits{.rows = wait_spots(context.trace, roles, group_of(context.options.group_by)),
              .shared = {.trace = &context.trace}};
  for (const WaitSpot& spot : waits.rows) waits.shared.blocked += spot.blocked;
  note_weights(context.trace, waits.notes);
  note_unsampled(context.trace, waits.notes);
  return waits;
}

constexpr std::string_view kImportance[] = {"waits_for",       "blocked_ns", "function",
                                            "location",        "object",     "threads",
                                            "blocked_percent", "samples"};

constexpr Need kNeeds[] = {{StoreTable::stack_samples}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "waits",
       .title = "What threads were blocked for, and where in the program",
       .doc = "One row per cause, object and line of the program; with --group-by object or cause "
              "these are summed. The rows sum to the time for which threads were blocked, as in "
              "`threads`: idle threads of a pool wait, too, so a long wait is not always a cost. "
              "The cause is known by the system call and the Python stack with which a thread was "
              "met asleep.",
       .group_by = kGroupBy,
       .sort = "-blocked_ns",
       .example = "fathom waits fathom-runs/20260101-120000-app --group-by cause",
       .needs = kNeeds,
       .none = "No thread was blocked.",
       .importance = kImportance,
       .whole = true});
}

}  // namespace
}  // namespace waits_report

Report waits() { return waits_report::report(); }

}  // namespace fathom
