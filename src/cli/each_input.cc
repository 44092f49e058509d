#include "cli/each_input.h"

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "engine/inputs/inputs.h"

namespace fathom::cli {
namespace {

bool is_not_a_trace(const Error& error) {
  return error.code == ErrorCode::unsupported || error.code == ErrorCode::corrupt;
}

Result<std::unique_ptr<Session>> open_session(const Inputs::File& file, const ReadWish& wish) {
  const std::string& shown = file.shown.empty() ? file.path : file.shown;
  const Progress progress("reading " + (shown == "-" ? "standard input" : shown), wish.quiet);
  return Session::open(file, ReadOptions{.threads = wish.threads});
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

int for_each_session(const Inputs& inputs, const ReadWish& wish, const UseSession& use) {
  int code = kFine;
  std::size_t shown = 0;
  for (const Inputs::File& file : inputs.files) {
    const Result<std::unique_ptr<Session>> session = open_session(file, wish);
    if (!session) {
      if (file.found && is_not_a_trace(session.error())) {
        say_warning("skipped: " + session.error().message, wish.quiet);
        continue;
      }
      code = fail(session.error());
      continue;
    }
    const Result<Use> used = use(**session, inputs.several);
    if (!used) {
      code = fail(used.error());
      if (shown == 0) return code;
      continue;
    }
    ++shown;
    if (*used == Use::stop) return code;
  }
  if (shown == 0 && code == kFine) {
    return fail({ErrorCode::not_found,
                 wish.inputs.front() + ": none of its files is a trace that Fathom can read"});
  }
  return code;
}

}  // namespace fathom::cli
