// Every subcommand. To add one: its declaration, and its line in the table, in the order of --help.
#include <algorithm>

#include "cli/command.h"
#include "cli/report_command.h"
#include "engine/session.h"

namespace fathom::cli {

Command attach();
Command baseline();
Command bench();
Command check();
Command compare();
Command completion();
Command diagnose();
Command digest();
Command doctor();
Command dump();
Command explain();
Command export_command();
Command formats();
Command man();
Command reference();
Command run();
Command sample_command();
Command verify();
Command view();
Command whatif();

const std::vector<Command>& all_commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> commands{run(),      attach(),   dump(),   sample_command(), doctor(),
                                  diagnose(), view(),     whatif(), compare(),        bench(),
                                  check(),    baseline(), verify(), explain()};
    for (const Report& report : all_reports()) commands.push_back(report_command(report));
    for (Command command : {
             export_command(),
             formats(),
             completion(),
             man(),
             reference(),
             digest(),
         }) {
      commands.push_back(std::move(command));
    }
    return commands;
  }();
  return table;
}

const Command* find_command(std::string_view name) {
  const std::vector<Command>& commands = all_commands();
  const auto at = std::ranges::find(commands, name, &Command::name);
  return at == commands.end() ? nullptr : &*at;
}

}  // namespace fathom::cli
