// Declares the options of the page as a file, and writes it.
#include "cli/page_file_options.h"

#include "cli/messages.h"
#include "cli/output.h"
#include "engine/query/quantity.h"

namespace fathom::cli {
namespace {

constexpr const char* kWithout = "; the page is written without it";

Options::Parse bytes_into(PageFileArguments& args) {
  return [&args](const std::string& text) -> Result<void> {
    const Result<double> bytes = parse_quantity(text, QuantityKind::bytes);
    if (!bytes) return bytes.error();
    if (*bytes < 0 || *bytes > 1e9)
      return Error{ErrorCode::invalid_argument, "'" + text + "': at most 1GB"};
    args.file.most_bytes = static_cast<std::size_t>(*bytes);
    args.sized = true;
    return {};
  };
}

}  // namespace

void declare_page_file(Options& options, PageFileArguments& args, std::string_view html_doc) {
  options.group("Page as a file");
  options.text("--html", "FILE", args.html, html_doc);
  options.parsed("--size", "BYTES", bytes_into(args),
                 "The file is at most so large: 25MB (default: 10MB)");
  options.flag("--redact", args.file.redact,
               "Put numbers in the place of names, paths, machines and commands in the file");
}

Result<void> check_page_file(const PageFileArguments& args) {
  if (!args.html.empty() || (!args.file.redact && !args.sized)) return {};
  return Error{ErrorCode::invalid_argument, "--redact and --size are about the file of --html"};
}

Result<void> write_page_file(const PageFileArguments& args, server::Viewed& viewed) {
  const Result<server::PageFile> page = server::make_page_file(viewed, args.file);
  if (!page) return page.error();
  Result<Output> file = Output::open(args.html, "--html");
  if (!file) return std::move(file).error();
  Result<void> written = file->write(page->html);
  if (written) written = file->finish();
  if (!written || page->lacking.empty()) return written;
  for (std::size_t i = 0; i + 1 < page->lacking.size(); ++i)
    say_error(page->lacking[i].message + kWithout);
  return Error{page->lacking.back().code, page->lacking.back().message + kWithout};
}

}  // namespace fathom::cli
