// The page as one file: it carries the answers that it needs, and no server is asked.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "server/viewed.h"

namespace fathom::server {

struct PageFileOptions {
  std::size_t most_bytes = 10'000'000;  ///< Of the file.
  bool redact = false;                  ///< No word of the recording is in it.
};

/// HTML. Waits until the recording is read. Errors: those of reading; invalid_argument where not
/// even the diagnosis fits.
Result<std::string> make_page_file(Viewed& viewed, const PageFileOptions& options);

}  // namespace fathom::server
