// fathom completion: scripts for bash and zsh, made from what the commands declare.
#include <memory>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "engine/session.h"

namespace fathom::cli {
namespace {

/// "--sort", "-o --output": the names of an option.
std::string spaced(std::string names) {
  for (char& c : names) c = c == ',' ? ' ' : c;
  return names;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// In single quotes for a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Those that --help lists; the others are known once they are typed.
std::vector<const Command*> listed_commands() {
  std::vector<const Command*> listed;
  for (const Command& command : all_commands()) {
    if (!command.group.empty()) listed.push_back(&command);
  }
  return listed;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : listed_commands()) names.push_back(command->name);
  names.emplace_back("help");
  return names;
}

std::string bash_case(const Command& command) {
  Options options;
  const std::function<int()> unused = command.declare(options);
  std::string flags = "--help";
  std::string values;
  for (const Options::Entry& entry : options.entries()) {
    flags += " " + spaced(entry.names);
    if (entry.choices.empty()) continue;
    std::string pattern = entry.names;
    for (char& c : pattern) c = c == ',' ? '|' : c;
    values += "        " + pattern + ") words=" + shell_quoted(join(entry.choices)) + " ;;\n";
  }
  std::string out = "    " + command.name + ")\n      flags=" + shell_quoted(flags) + "\n";
  if (!values.empty()) out += "      case $prev in\n" + values + "      esac\n";
  if (command.name == "completion") out += "      words='bash zsh'\n";
  return out + "      ;;\n";
}

std::string bash_script() {
  std::string out =
      "# bash completion of fathom; load it with: source <(fathom completion bash)\n"
      "_fathom() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local flags='' words='' head=''\n"
      "  # --sort=name arrives as three words.\n"
      "  [[ $cur == '=' ]] && cur='' && prev='='\n"
      "  [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD - (${#cur} ? 2 : 1)]}\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W " +
      shell_quoted(join(command_names()) + " --help --version") +
      " -- \"$cur\"; compgen -f -- \"$cur\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : all_commands()) out += bash_case(command);
  out += "    help) words=" + shell_quoted(join(command_names())) + " ;;\n";
  out +=
      "  esac\n"
      "  # What stands before a name: the order of --sort, the other names of --columns.\n"
      "  [[ $cur == [-+]* ]] && head=${cur:0:1}\n"
      "  [[ $cur == *,* ]] && head=${cur%,*},\n"
      "  if [[ -n $words ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"${cur#\"$head\"}\")\n"
      "  elif [[ $cur == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _fathom fathom\n";
  return out;
}

/// Colons and brackets mean something to _arguments and _describe.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// "-o" and "--output" of "-o,--output".
std::vector<std::string> names_of(const Options::Entry& entry) {
  const std::size_t comma = entry.names.find(',');
  if (comma == std::string::npos) return {entry.names};
  return {entry.names.substr(0, comma), entry.names.substr(comma + 1)};
}

/// An option for _arguments, "--sort=[doc]:COLUMN:action": may be repeated, and its value may
/// follow "=" or a blank.
std::string zsh_option(const std::string& name, const Options::Entry& entry) {
  const bool valued = !entry.value.empty();
  std::string spec =
      "*" + name + (valued && name.starts_with("--") ? "=" : "") + "[" + zsh_text(entry.doc) + "]";
  if (!valued) return spec;
  spec += ":" + zsh_text(entry.value) + ":";
  const bool files = entry.value == "FILE" || entry.several;
  if (entry.choices.empty()) return spec + (files ? "_files" : " ");
  // What stands before a name is no part of it: the other names of --columns, the order of --sort.
  return spec + "{compset -P \"*,\"; compset -P \"[-+]\"; compadd -- " + join(entry.choices) + "}";
}

std::string zsh_case(const Command& command) {
  Options options;
  const std::function<int()> unused = command.declare(options);
  std::string out = "    " + command.name + ")\n      _arguments " + shell_quoted("--help[help]");
  for (const Options::Entry& entry : options.entries()) {
    for (const std::string& name : names_of(entry))
      out += " \\\n        " + shell_quoted(zsh_option(name, entry));
  }
  const std::string operand =
      command.name == "completion" ? "*:shell:(bash zsh)" : "*:input:_files";
  return out + " \\\n        " + shell_quoted(operand) + "\n      ;;\n";
}

std::string zsh_script() {
  std::string out =
      "#compdef fathom\n"
      "# zsh completion of fathom; put it into a folder of $fpath as _fathom\n"
      "_fathom() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command* command : listed_commands()) {
    out += "    " + shell_quoted(zsh_text(command->name) + ":" + zsh_text(command->title)) + "\n";
  }
  out += "    'help:What a command does'\n";
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const Command& command : all_commands()) out += zsh_case(command);
  out +=
      "    help) _describe command commands ;;\n"
      "    *) _files ;;\n"
      "  esac\n"
      "}\n"
      "if [[ $funcstack[1] == _fathom ]]; then\n"
      "  _fathom \"$@\"\n"
      "else\n"
      "  compdef _fathom fathom\n"
      "fi\n";
  return out;
}

int run_completion(const std::vector<std::string>& shells) {
  if (shells.size() == 1 && shells.front() == "bash") return print(bash_script());
  if (shells.size() == 1 && shells.front() == "zsh") return print(zsh_script());
  say_error("completion: name one shell, bash or zsh");
  return kUsage;
}

}  // namespace

Command completion() {
  Command command;
  command.name = "completion";
  command.group = "More";
  command.title = "Completion for bash or zsh";
  command.operand = "bash|zsh";
  command.doc = "Prints a script that completes subcommands, options, columns and files.";
  command.examples = {"source <(fathom completion bash)",
                      "fathom completion zsh > ~/.zfunc/_fathom"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto shells = std::make_shared<std::vector<std::string>>();
    options.operands("a shell (bash or zsh)", *shells, 1);
    return [shells] { return run_completion(*shells); };
  };
  return command;
}

}  // namespace fathom::cli
