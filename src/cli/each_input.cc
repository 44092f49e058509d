// Opens inputs with progress on the terminal; prints what is skipped and what fails.
#include "cli/each_input.h"

#include "base/out_of_memory.h"
#include "cli/messages.h"
#include "cli/progress.h"

namespace fathom::cli {

namespace {

std::string shown_name(const Inputs::File& file) {
  return file.name() == "-" ? "standard input" : file.name();
}

}  // namespace

Result<Inputs> inputs_of(const ReadWish& wish) {
  std::size_t pipes = 0;
  for (const std::string& input : wish.inputs) pipes += input == "-" ? 1 : 0;
  if (pipes > 1) {
    return Error{ErrorCode::invalid_argument, "standard input (-) can be read only once"};
  }
  return expand_inputs(wish.inputs);
}

InputHandlers input_handlers(const ReadWish& wish, int& code) {
  return {.open =
              [&wish](const Inputs::File& file) {
                const std::string reading = "reading " + shown_name(file);
                return or_out_of_memory(reading, [&] {
                  const Progress progress(reading, wish.quiet);
                  return Session::open(file, ReadOptions{.threads = wish.threads});
                });
              },
          .skipped =
              [&wish](const Error& error) { say_warning("skipped: " + error.message, wish.quiet); },
          .failed = [&code](const Error& error) { code = fail(error); }};
}

}  // namespace fathom::cli
