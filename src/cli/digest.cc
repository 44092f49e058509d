// fathom digest: a checksum of everything that was read, for those who work on the readers.
#include <memory>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "engine/digest_text.h"

namespace fathom::cli {
namespace {

struct DigestArguments {
  bool lines = false;
  bool repairs = false;
  std::vector<std::string> inputs;
};

Result<void> write_lines(const std::string& input, Output& output) {
  std::string block;
  Result<void> written;
  const auto flush = [&] {
    written = output.write(block);
    block.clear();
    return written.ok() && !output.closed();
  };
  const Result<void> read = for_each_digest_line_of(input, [&](std::string_view line) {
    block.append(line).push_back('\n');
    return block.size() < (std::size_t{1} << 16) || flush();
  });
  if (!read) return read.error();
  if (!block.empty()) flush();
  return written;
}

Result<void> write_text(const Result<std::string>& text, Output& output) {
  if (!text) return text.error();
  return output.write(*text);
}

int run_digest(const DigestArguments& args) {
  Result<Output> output = Output::open("");
  int code = output ? kFine : kUnreadable;
  for (const std::string& input : args.inputs) {
    if (!output) break;
    const Result<void> done =
        args.lines ? write_lines(input, *output)
                   : write_text(args.repairs ? repairs_text(input) : digest_text(input), *output);
    if (done) continue;
    say_error(done.error().message);
    code = exit_code(done.error());
  }
  return code;
}

}  // namespace

Command digest() {
  Command command;
  command.name = "digest";
  command.title = "A checksum of everything that was read";
  command.operand = "INPUT…";
  command.doc =
      "Prints, for each table of the store, its number of rows and a sum over their hashes. "
      "tests/reference/read_reference.py prints the same, reading in another way.";
  command.examples = {"fathom digest trace.json.gz", "fathom digest --lines trace.json.gz | sort"};
  command.declare = [](Options& options) -> std::function<int()> {
    auto args = std::make_shared<DigestArguments>();
    options.flag("--lines", args->lines, "The line of each row instead of the sums");
    options.flag("--repairs", args->repairs, "What had to be repaired: kind, count, first byte");
    options.operands("INPUT", args->inputs, 1);
    return [args] { return run_digest(*args); };
  };
  return command;
}

}  // namespace fathom::cli
