// Opens the inputs of a subcommand one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/inputs/inputs.h"
#include "engine/session.h"

namespace fathom::cli {

/// What to read, and how.
struct ReadWish {
  std::vector<std::string> inputs;
  bool quiet = false;
  unsigned threads = 0;
};

/// What the user of a session says about going on.
enum class Use : unsigned char { next, stop };

using UseSession = std::function<Result<Use>(const Session&, bool several)>;

/// The files behind the inputs, standard input at most once.
Result<Inputs> inputs_of(const ReadWish& wish);

/// Calls `use` for each recording behind the inputs, so that memory holds one at a time; `several`
/// is true where the arguments may stand for more than one. Files of a directory that are no traces
/// are skipped with a warning; other errors are said, and the next input is tried, but an error of
/// `use` before anything was shown ends it: what is wrong with the request is wrong for every
/// input. Returns the exit code.
int for_each_session(const Inputs& inputs, const ReadWish& wish, const UseSession& use);

}  // namespace fathom::cli
