// fathom formats: what can be read.
#include "cli/command.h"
#include "cli/output.h"
#include "cli/print.h"
#include "engine/session.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

int run_formats() {
  std::string out;
  for (const Format& format : all_formats())
    out += pad_right(format.id, 16) + std::string(format.title) + "\n";
  out += "\nEach may be plain, gzip or zstd, recognised by content, not by name.\n";
  return print(out);
}

}  // namespace

Command formats() {
  Command command;
  command.name = "formats";
  command.group = "More";
  command.title = "What can be read";
  command.doc = "Lists the formats by the name that `fathom info` shows for a file.";
  command.examples = {"fathom formats"};
  command.declare = [](Options&) { return run_formats; };
  return command;
}

}  // namespace fathom::cli
