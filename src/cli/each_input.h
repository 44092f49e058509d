// How a subcommand opens its inputs, and what it prints about those that fail.
#pragma once

#include <string>
#include <vector>

#include "base/held_files.h"
#include "engine/each_session.h"
#include "engine/inputs/inputs.h"

namespace fathom::cli {

/// What to read, and how.
struct InputArguments {
  std::vector<std::string> inputs;
  bool quiet = false;
  unsigned threads = 0;
  /// What was looked at before and may still be open, or null. Borrowed.
  HeldFiles* held = nullptr;
  bool no_cache = false;  ///< Neither use what was kept of inputs, nor keep it.
};

/// The files behind the inputs, standard input at most once. Call it before anything is opened.
Result<Inputs> inputs_of(const InputArguments& args);

/// Opens sessions with progress on the terminal, and prints what is skipped and what fails. `code`
/// becomes the exit code of the last failure. Borrows both for as long as the handlers are used.
InputHandlers input_handlers(const InputArguments& args, int& code);

}  // namespace fathom::cli
