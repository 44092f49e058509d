// A subcommand: it names, explains and declares itself; help, man page and completion are made from
// that.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
struct Report;
}

namespace fathom::cli {

class Options;

/// Exit codes. They are part of the interface.
inline constexpr int kFine = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUnreadable = 3;
inline constexpr int kCannotTell = 4;  ///< Whether a check failed.

struct Command {
  std::string name;
  std::string group;    ///< Heading in `fathom --help`; not listed there when empty.
  std::string title;    ///< One line.
  std::string operand;  ///< What follows the options, e.g. "INPUT…".
  std::string doc;      ///< A paragraph.
  std::vector<std::string> examples;
  const Report* report = nullptr;  ///< The report that it prints, if it is one.

  /// Declares the flags, and returns what runs once they are parsed; that returns the exit code.
  /// The flags' values live in what is returned.
  std::function<std::function<int()>(Options&)> declare;
};

/// Every subcommand, in the order of --help.
const std::vector<Command>& all_commands();
/// The command of that name, or nullptr.
const Command* find_command(std::string_view name);

}  // namespace fathom::cli
