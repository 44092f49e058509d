// Options and writing of the page as one file: `view --html` and `diagnose --html`.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.h"
#include "server/page_file/page_file.h"

namespace fathom::cli {

struct PageFileArguments {
  std::string html;
  server::PageFileOptions file;
  bool sized = false;
};

/// --html with this sentence, --size, --redact.
void declare_page_file(Options& options, PageFileArguments& args, std::string_view html_doc);
/// Error: invalid_argument, where what is about the file is given without it.
Result<void> check_page_file(const PageFileArguments& args);
/// Writes the file. Error: also where the file is written, but lacks what should be in it.
Result<void> write_page_file(const PageFileArguments& args, server::Viewed& viewed);

}  // namespace fathom::cli
