// The Python hook: carried inside the binary, unpacked into the session folder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/launcher/recording.h"

namespace fathom::capture {

struct HookFile {
  std::string_view path;  ///< Relative: "sitecustomize.py".
  std::string_view text;
};

/// The files of python/fathom_hook as they were when this binary was built.
std::span<const HookFile> hook_files();

/// Writes them into the folder, which is made. Errors: io.
Result<void> unpack_hook(const std::string& folder);

/// The environment by which a program records itself into `session` (docs/capture.md), as
/// NAME=VALUE; `hook` is the folder of the files above.
std::vector<std::string> hook_variables(const std::string& hook, const std::string& session,
                                        const Recording& recording);

}  // namespace fathom::capture
