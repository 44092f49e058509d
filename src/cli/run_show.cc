// Chooses between the two outputs.
#include "cli/run_show.h"

#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"

namespace fathom::cli {

int diagnose_folder(const std::string& folder, bool quiet) {
  Options options;
  const std::function<int()> diagnose_it = find_command("diagnose")->declare(options);
  std::vector<std::string> arguments = {"--", folder};
  if (quiet) arguments.insert(arguments.begin(), "--quiet");
  return options.parse(arguments) ? diagnose_it() : kUsage;
}

void show_run(const Captured& captured, bool quiet) {
  if (isatty(STDOUT_FILENO) == 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  print("\n");
  diagnose_folder(captured.folder, quiet);
}

}  // namespace fathom::cli
