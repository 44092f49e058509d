// Finds the subcommand, or suggests what a mistyped name may have meant.
#include "cli/program.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/version.h"
#include "engine/query/nearest.h"

namespace fathom::cli {
namespace {

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

int usage_error(const std::string& message) {
  say_error(message);
  return kUsage;
}

int run_command(const Command& command, std::span<const std::string> arguments) {
  // After "--" everything is an operand, even a file called --help.
  const auto end = std::ranges::find(arguments, "--");
  if (std::ranges::any_of(arguments.begin(), end, asks_for_help))
    return print(command_help(command));
  Options options;
  const std::function<int()> run = command.declare(options);
  const Result<void> parsed = options.parse(arguments);
  if (!parsed) {
    return usage_error(command.name + ": " + parsed.error().message + " (fathom " + command.name +
                       " --help explains)");
  }
  return run();
}

/// `fathom trace.json` is `fathom overview trace.json`.
bool looks_like_input(const std::string& word) {
  return word == "-" || word.find_first_of("./*?") != std::string::npos ||
         access(word.c_str(), F_OK) == 0;
}

int unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  const std::string_view meant = nearest(word, names);
  return usage_error(
      "there is no command or file '" + word + "'" +
      (meant.empty() ? std::string() : "; did you mean '" + std::string(meant) + "'?") +
      " (fathom --help lists the commands)");
}

int help_on(std::span<const std::string> arguments) {
  if (arguments.empty()) return print(program_help());
  const Command* command = find_command(arguments.front());
  return command == nullptr ? unknown_command(arguments.front()) : print(command_help(*command));
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::fputs(program_help().c_str(), stderr);
    return kUsage;
  }
  const std::string& first = arguments.front();
  const std::span<const std::string> rest = std::span(arguments).subspan(1);
  if (first == "--version" || first == "-V") return print(version_text());
  if (asks_for_help(first)) return print(program_help());
  if (const Command* command = find_command(first)) return run_command(*command, rest);
  if (first == "help") return help_on(rest);
  const bool option = first.starts_with("-") && first != "-";
  const Command* overview = find_command("overview");
  if (overview != nullptr && (looks_like_input(first) || option)) {
    return run_command(*overview, arguments);
  }
  return unknown_command(first);
}

}  // namespace fathom::cli
