// fathom man: the man page, made from the same words as the help.
#include "cli/command.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/report_options.h"
#include "cli/version.h"
#include "engine/session.h"

namespace fathom::cli {
namespace {

/// Text for roff: nothing in it is a request or an escape.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '.' && out.empty()) {
      out += "\\&.";
    } else {
      out += c;
    }
  }
  return out;
}

std::string heading(std::string_view text) { return ".SH " + std::string(text) + "\n"; }

std::string term(std::string_view name, std::string_view text) {
  return ".TP\n.B " + roff(name) + "\n" + roff(text) + "\n";
}

/// The options of a table that others have, too, stand at the end of the page.
enum class Part : std::uint8_t { all, own, common };

std::string option_terms(const Command& command, Part part) {
  Options options;
  const std::function<int()> unused = command.declare(options);
  std::string out;
  for (const Options::Entry& entry : options.entries()) {
    if (part != Part::all && (entry.group == kOwnOptions) != (part == Part::own)) continue;
    out += term(option_term(entry), entry.doc);
  }
  return out;
}

std::string command_section(const Command& command) {
  std::string out = ".SS fathom " + roff(command.name) + " " + roff(command.operand) + "\n" +
                    roff(sentence(command.title)) + "\n" + roff(command.doc) + "\n" +
                    option_terms(command, command.report != nullptr ? Part::own : Part::all);
  if (command.report != nullptr) {
    out += ".PP\nColumns:\n";
    const std::string remark = columns_remark(*command.report);
    if (!remark.empty()) out += ".PP\n" + roff(remark) + "\n";
    for (const ColumnSpec& column : command.report->columns)
      out += term(column.name, column_doc(column));
  }
  for (const std::string& example : command.examples)
    out += ".PP\n.EX\n" + roff(example) + "\n.EE\n";
  return out;
}

/// The options that tables share, as one of them has it that can be asked for everything.
std::string table_options() {
  const Command* table = find_command("ops");
  return table == nullptr ? std::string() : option_terms(*table, Part::common);
}

int run_man() {
  std::string out =
      ".\\\" Made by `fathom man`.\n.TH FATHOM 1 \"\" \"fathom " + roff(version()) + "\"\n";
  out += heading("NAME") + "fathom \\- where the time of a PyTorch or CUDA program goes\n";
  out += heading("SYNOPSIS") +
         ".B fathom\n.I COMMAND\n[\\fIOPTION\\fR...]\n.IR INPUT ...\n.br\n.B fathom\n.I INPUT\n";
  out += heading("DESCRIPTION") + roff(kInputs) + "\n";
  out += heading("COMMANDS");
  for (const Command& command : all_commands()) out += command_section(command);
  out += heading("OPTIONS OF TABLES") + table_options();
  out += heading("EXIT STATUS");
  for (const Remark& code : exit_codes()) out += term(code.term, code.text);
  out += heading("ENVIRONMENT");
  for (const Remark& variable : environment()) out += term(variable.term, variable.text);
  out +=
      heading("FILES") + term("docs/PAGE.md",
                              "Pages that are named here: below share/doc/fathom where Fathom is "
                              "installed (/usr/share/doc/fathom of the Debian package; a wheel has "
                              "none), and in its repository.");
  out += heading("EXAMPLES");
  for (const Remark& example : program_examples()) out += term(example.term, example.text);
  return print(out);
}

}  // namespace

Command man() {
  Command command;
  command.name = "man";
  command.group = "More";
  command.title = "The manual page, in roff";
  command.doc = "Prints the manual page; `make install` puts it where man looks.";
  command.examples = {"fathom man | man -l -"};
  command.declare = [](Options&) { return run_man; };
  return command;
}

}  // namespace fathom::cli
