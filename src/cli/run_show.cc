// Prints the diagnosis at the end of a run.
#include "cli/run_show.h"

#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
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

void show_recording(const std::string& folder, bool quiet) {
  if (isatty(STDOUT_FILENO) == 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  print("\n");
  diagnose_folder(folder, quiet);
}

record::Messages recording_messages(bool quiet) {
  return {.progress =
              [quiet](const std::string& text) {
                if (!quiet) say_error(text);
              },
          .warning = [quiet](const std::string& text) { say_warning(text, quiet); },
          .error = [](const std::string& text) { say_error(text); }};
}

}  // namespace fathom::cli
