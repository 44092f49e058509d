// Help texts, made from what commands and options say of themselves.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/options.h"

namespace fathom::cli {

/// `fathom --help`.
std::string program_help();
/// `fathom <command> --help`.
std::string command_help(const Command& command);

/// What the man page and --help say about exit codes and the environment.
struct Remark {
  std::string_view term;
  std::string_view text;
};
std::span<const Remark> exit_codes();
std::span<const Remark> environment();
std::span<const Remark> program_examples();
inline constexpr std::string_view kInputs =
    "INPUT is a trace file (plain, gzip or zstd, told by its content), - for standard input, a "
    "directory of rank "
    "files, or a quoted pattern such as 'run1/*.json.gz'. Several may be given.";

}  // namespace fathom::cli
