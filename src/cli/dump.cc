// fathom dump: what every thread of a process tree does right now.
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/command.h"
#include "cli/dump_show.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/selection_options.h"
#include "record/tree_looks.h"

namespace fathom::cli {
namespace {

struct DumpArguments {
  std::vector<std::string> pids;
  bool json = false;
  bool all = false;
  bool alone = false;
  bool native = false;
};

int run_dump(const DumpArguments& arguments) {
  Result<std::vector<pid_t>> pids = parse_pids(arguments.pids);
  if (!pids) return fail(std::move(pids).error().in("dump"));
  const Result<record::TreeLooks> looks =
      record::look_at_trees(*pids, {.alone = arguments.alone, .native = arguments.native},
                            [](const std::string& text) { say_warning(text, false); });
  if (!looks) return fail(looks.error());
  const Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  return print(arguments.json ? dump_json(*looks) : dump_text(*looks, style, arguments.all));
}

}  // namespace

Command dump() {
  Command command;
  command.name = "dump";
  command.group = "Capture";
  command.title = "What every thread of a process tree does right now";
  command.operand = "PID…";
  command.doc =
      "Looks once at a running process and at those below it, from outside and without stopping "
      "them: for each thread its state, what it waits for (the GIL, a lock, a file, a pipe, a "
      "child, "
      "a time), who has the GIL, and of CPython 3.8 to 3.14 the Python stack with its lines. The "
      "program needs no preparation; a stopped one can be looked at, too. A stack is read four "
      "times, and what was not the same each time is left out and marked. Where Fathom's hook runs "
      "in a process, a function that it names must be on the stack that is read of its thread, or "
      "the process has none. Of several processes "
      "with "
      "RANK in their environment the ranks come first: those at one line together, the odd one "
      "marked. --native adds native "
      "functions: of a thread that runs by perf, of one that waits by its stack pointer, as far as "
      "the unwinding rules of its code need no other register.";
  command.examples = {"fathom dump 12345", "fathom dump $(pgrep -o torchrun)",
                      "fathom dump 12345 --native",
                      "fathom dump 12345 --json | jq '.processes[].threads[].waits'"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto arguments = std::make_shared<DumpArguments>();
    options.operands("PID", arguments->pids, 1);
    options.flag("--alone", arguments->alone, "Only these processes, not those below them");
    options.flag("--native", arguments->native,
                 "Native functions, too, with Python's where the interpreter runs them");
    options.group("Output");
    options.flag("--all", arguments->all, "Each thread without Python on a line of its own");
    options.flag("--json", arguments->json, "JSON, schema fathom.dump/1");
    return [arguments] { return run_dump(*arguments); };
  };
  return command;
}

}  // namespace fathom::cli
