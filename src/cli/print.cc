// Prints a finished text to standard output.
#include "cli/print.h"

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/output.h"

namespace fathom::cli {

int print(std::string_view text) {
  Result<Output> output = Output::open("");
  if (!output) return kUsage;
  const Result<void> written = output->write(text);
  if (written) return kFine;
  say_error(written.error().message);
  return exit_code(written.error());
}

}  // namespace fathom::cli
