// Opens the inputs of a subcommand one after the other.
#include "cli/each_input.h"

#include <cstdlib>

#include "base/out_of_memory.h"
#include "cli/messages.h"
#include "cli/progress.h"

namespace fathom::cli {

namespace {

std::string shown_name(const Inputs::File& file) {
  return file.name() == "-" ? "standard input" : file.name();
}

}  // namespace

Result<Inputs> inputs_of(const InputArguments& args) {
  // Inputs are opened in many places; that they are read anew holds for the whole process.
  if (args.no_cache) setenv("FATHOM_CACHE", "off", 1);
  std::size_t pipes = 0;
  for (const std::string& input : args.inputs) pipes += input == "-" ? 1 : 0;
  if (pipes > 1) {
    return Error{ErrorCode::invalid_argument, "standard input (-) can be read only once"};
  }
  return expand_inputs(args.inputs);
}

InputHandlers input_handlers(const InputArguments& args, int& code) {
  return {.open =
              [&args](const Inputs::File& file) {
                const std::string reading = "reading " + shown_name(file);
                return or_out_of_memory(reading, [&] {
                  const Progress progress(reading, args.quiet);
                  return open_session(file,
                                      ReadOptions{.threads = args.threads, .held = args.held});
                });
              },
          .skipped =
              [&args](const Error& error) { say_warning("skipped: " + error.message, args.quiet); },
          .failed = [&code](const Error& error) { code = fail(error); }};
}

}  // namespace fathom::cli
