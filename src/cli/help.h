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

/// "-o, --output FILE".
std::string option_term(const Options::Entry& entry);
/// A title as a sentence: with a full stop, unless it ends in a mark of its own.
std::string sentence(std::string_view title);
/// What a column is, its unit, and whether text leaves it out: "How long. [ns; --wide]".
std::string column_doc(const ColumnSpec& column);
/// What people must know of all columns of this report; "" when there is nothing.
std::string columns_remark(const Report& report);

/// What the man page and --help say about exit codes and the environment.
struct Remark {
  std::string_view term;
  std::string_view text;
};
std::span<const Remark> exit_codes();
std::span<const Remark> environment();
std::span<const Remark> program_examples();
inline constexpr std::string_view kInputs =
    "INPUT is a trace file (plain, gzip or zstd, recognised by its content), - for standard input, "
    "a "
    "directory of rank "
    "files, or a quoted pattern such as 'run1/*.json.gz'. Several may be given.";

}  // namespace fathom::cli
