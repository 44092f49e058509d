// Recordings as subcommands that compare read them: opened one after the other, each leaves a
// profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/each_input.h"
#include "compare/runs.h"

namespace fathom::cli {

/// Adds the profile of each recording behind the inputs to those that there are; none of these need
/// be a recording then.
void add_profiles(const Inputs& inputs, const Request& request, InputHandlers handlers,
                  std::vector<Profile>& profiles);

/// The recordings behind one argument; unset where none can be read, which is then said, and `code`
/// is the exit code.
std::optional<std::vector<Profile>> profiles_of(const InputArguments& read, const Request& request,
                                                const std::string& input, int& code);

/// The same of several arguments, as runs: see runs_of().
std::optional<Runs> runs_behind(const InputArguments& read, const Request& request,
                                const std::vector<std::string>& inputs, int& code);

/// The same, where an argument may also be a result of fathom bench, or a baseline, of which the
/// last snapshot counts.
std::optional<Runs> side_behind(const InputArguments& read, const Request& request,
                                const std::vector<std::string>& inputs, int& code);

}  // namespace fathom::cli
